"""Give one prompt to an agent that speaks ACP; what it does is printed as events.

    python3 -m siding.agents.acp.bridge_program '{"command": ["my-agent", "--acp"]}' < PROMPT

The object has `command`, and may have `resume` (a conversation to go on with), `model`, `level`
(read, edit, all), `tools` (kinds of tools or their titles that need no question) and `judged`
(whether Siding's policy judges commands). `agents.headless.output` has the events.
"""

import asyncio
import json
import os
import sys
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AgentCapabilities,
    ClientCapabilities,
    FileSystemCapabilities,
    Implementation,
    InitializeResponse,
    SessionConfigOptionSelect,
)

from siding import __version__
from siding.agents.acp.broker import Broker
from siding.agents.acp.client import BridgeClient, Permissions, emit
from siding.agents.headless.port import Level
from siding.ground.namedtuples import NamedTuple

_LONGEST_LINE = 64 << 20  # bytes of a message; a file may be in it
_STOPS = {
    "max_tokens": ("limit", "the model wrote as much as it may"),
    "max_turn_requests": ("limit", "it made as many requests as it may in a turn"),
    "refusal": ("refused", "the model refuses to go on"),
    "cancelled": ("other", "the turn was cancelled"),
}


def main(words: list[str]) -> int:
    """Answer the prompt on standard input; return the exit status."""
    asked = json.loads(words[0])
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return asyncio.run(_answered(asked, prompt))
    except NoSession as error:
        emit("failed", message=str(error), fault="no-session")
    except RequestError as error:
        emit("failed", message=_said(error))
    except (OSError, ConnectionError) as error:
        emit("failed", message=f"the agent has gone away: {error}", fault="other")
    return 1


async def _answered(asked: dict[str, Any], prompt: str) -> int:
    root = os.getcwd()
    broker = Broker(dict(os.environ))
    permissions = Permissions(
        root=root,
        level=Level(asked.get("level", Level.EDIT)),
        tools=tuple(asked.get("tools", ())),
        is_judged=asked.get("judged") is True,
        broker=broker,
    )
    client = BridgeClient(root, permissions)
    command, *rest = asked["command"]
    async with spawn_agent_process(
        client,
        command,
        *rest,
        env=dict(os.environ),
        cwd=root,
        # Nobody reads a pipe for it, and the agent would wait when it is full: the run records it.
        transport_kwargs={"stderr": sys.stderr.fileno(), "limit": _LONGEST_LINE},
    ) as (agent, process):
        talking = asyncio.ensure_future(_turn(agent, asked, prompt, client, broker))
        gone = asyncio.ensure_future(process.wait())
        await asyncio.wait([talking, gone], return_when=asyncio.FIRST_COMPLETED)
        if not talking.done():
            await asyncio.wait([talking], timeout=1.0)  # what it said last is still being read
        if not talking.done():
            talking.cancel()
            await asyncio.wait([talking])
            raise ConnectionError(f"it ended with {process.returncode}")
        gone.cancel()
        return talking.result()


async def _turn(
    agent: ClientSideConnection,
    asked: dict[str, Any],
    prompt: str,
    client: BridgeClient,
    broker: Broker,
) -> int:
    offered = await agent.initialize(
        protocol_version=PROTOCOL_VERSION,
        client_capabilities=ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=False
        ),
        client_info=Implementation(name="siding", version=__version__),
    )
    resume, model = str(asked.get("resume", "")), str(asked.get("model", ""))
    session = await begun(agent, offered, resume=resume, model=model, root=os.getcwd())
    emit("session", id=session.id, model=session.model)
    if model and session.model != model:
        emit("left_out", name="model")
    await broker.tell("session", session=session.id, new=not resume)
    await broker.tell("prompt", session=session.id, text=prompt)
    client.listens = True  # what was said before, of a conversation that is gone on with, is known
    done = await agent.prompt(session_id=session.id, prompt=[text_block(prompt)])
    if done.usage is not None:
        emit(
            "used",
            tokens=done.usage.output_tokens,
            input_tokens=done.usage.input_tokens,
            dollars=client.dollars,
        )
    failed = _STOPS.get(done.stop_reason)
    await broker.tell("stopped" if failed is None else "failed", session=session.id)
    if failed is not None:
        emit("failed", fault=failed[0], message=failed[1])
        return 1
    emit("done", text=client.text)
    return 0


def _said(error: RequestError) -> str:
    """Return what an agent says of a request that it refuses: the details are often apart."""
    data = error.data
    more = data.get("details") or data.get("message") if isinstance(data, dict) else data
    return f"{error}: {more}" if more else str(error)


class NoSession(Exception):
    """The agent has not the conversation that is to be gone on with, or cannot go on with any."""


class Session(NamedTuple):
    """A conversation, and its model ("" if the agent does not say)."""

    id: str
    model: str = ""


async def begun(
    agent: ClientSideConnection, offered: InitializeResponse, *, resume: str, model: str, root: str
) -> Session:
    """Return the conversation for the prompt. Raises NoSession, RequestError."""
    if resume:
        options = await _gone_on_with(agent, offered, resume, root)
        found = resume
    else:
        new = await agent.new_session(cwd=root, mcp_servers=[])
        found, options = new.session_id, new.config_options
    chooser = _model_chooser(options)
    if chooser is None:
        return Session(id=found)
    if not model or chooser.current_value == model:
        return Session(id=found, model=chooser.current_value)
    try:
        await agent.set_config_option(config_id=chooser.id, session_id=found, value=model)
    except RequestError:
        return Session(id=found, model=chooser.current_value)
    return Session(id=found, model=model)


async def _gone_on_with(
    agent: ClientSideConnection, offered: InitializeResponse, session: str, root: str
) -> Any:
    can = offered.agent_capabilities or AgentCapabilities()
    of_sessions = can.session_capabilities
    try:
        if of_sessions is not None and of_sessions.resume is not None:
            resumed = await agent.resume_session(session_id=session, cwd=root, mcp_servers=[])
            return resumed.config_options
        if can.load_session:
            loaded = await agent.load_session(cwd=root, session_id=session, mcp_servers=[])
            return loaded.config_options
    except RequestError as error:
        raise NoSession(f"the agent has no conversation {session}: {error}") from error
    raise NoSession("the agent cannot go on with a conversation")


def _model_chooser(options: Any) -> SessionConfigOptionSelect | None:
    selects = [each for each in options or () if isinstance(each, SessionConfigOptionSelect)]
    return next((each for each in selects if each.category == "model"), None)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
