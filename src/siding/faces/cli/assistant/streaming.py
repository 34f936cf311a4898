"""A conversation over two streams of JSON, as the SDKs of Claude Code hold it.

The client sends prompts and requests, and answers ours; docs/reference/agent.md lists them. A
prompt that comes while a turn is under way becomes a part of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any

from siding.assistant.agent import Agent, text_of
from siding.assistant.front_end import Ending, TurnEnded
from siding.assistant.servers import Servers
from siding.assistant.subagent_kinds import kinds_in
from siding.faces.cli.assistant.client import (
    AnsweredAs,
    Asked,
    Cancelled,
    Client,
    Ignored,
    Line,
    Prompt,
    Unreadable,
    answering,
    read,
    refusing,
)
from siding.faces.cli.assistant.hooks import MOMENTS, ClientHooks, registered
from siding.faces.cli.assistant.printing import print_lines
from siding.faces.cli.assistant.stream_json import Translator, exit_status
from siding.faces.cli.assistant.terminal import TypedLines
from siding.faces.cli.assistant.turn_ids import TurnIds
from siding.ground.errors import SidingError, UsageError


class Streaming:
    """One conversation. `repeats`: each prompt is repeated to the client, with its id."""

    def __init__(
        self,
        agent: Agent,
        translator: Translator,
        typed: TypedLines,
        client: Client,
        servers: Servers,
        *,
        new_id: Callable[[], str],
        repeats: bool = False,
    ) -> None:
        self._agent = agent
        self._translator = translator
        self._typed = typed
        self._client = client
        self._servers = servers
        self._new_id = new_id
        self._repeats = repeats
        self._prompts: asyncio.Queue[Prompt | None] = asyncio.Queue()
        self._hooks: ClientHooks | None = None
        self._turns = TurnIds(agent.transcript)
        self._is_busy = False
        self._status = 0

    async def serve(self) -> int:
        """Hold the conversation until the client closes its end; return the exit status."""
        reader = asyncio.create_task(self._read())
        try:
            while (prompt := await self._prompts.get()) is not None:
                await self._answer(prompt)
        finally:
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader
        return self._status

    async def _answer(self, prompt: Prompt) -> None:
        self._is_busy = True
        try:
            refused = await self._refused(prompt)
            if refused:
                print_lines(self._translator.lines(_not_answered(refused)))
            else:
                await self._turn(prompt)
        finally:
            self._is_busy = False
        for content in self._agent.take_waiting():
            self._prompts.put_nowait(Prompt(content, {}))

    async def _refused(self, prompt: Prompt) -> str:
        """Return why a hook lets the prompt not be answered; "" if none objects."""
        if self._hooks is None:
            return ""
        return (await self._hooks.prompted(text_of(prompt.content))).reason

    async def _turn(self, prompt: Prompt) -> None:
        await self._servers.connect()
        agent = self._agent
        self._translator.now(
            model=agent.model,
            mode=agent.mode,
            tools=tuple(agent.tools),
            servers=self._servers.states,
            agents=tuple(agent.subagents),
            origin=prompt.origin,
        )
        turn = self._turns.id_for(prompt.id)
        async with aclosing(self._agent.say(prompt.content, turn)) as events:
            async for event in events:
                print_lines(self._translator.lines(event))
                if isinstance(event, TurnEnded):
                    self._status = exit_status(event.ending)

    async def _read(self) -> None:
        while (line := await self._typed.next()) is not None:
            found = read(line)
            match found:
                case Prompt():
                    self._prompted(found)
                case Asked():
                    await self._asked(found)
                case AnsweredAs():
                    self._client.answered(found)
                case Unreadable():
                    print_lines([self._unreadable(found.why)])
                case Cancelled() | Ignored():
                    pass
        self._client.gone()
        self._prompts.put_nowait(None)

    def _unreadable(self, why: str) -> Line:
        return {
            "type": "system",
            "subtype": "unreadable_input",
            "message": why,
            "session_id": self._agent.session.id,
            "uuid": self._new_id(),
        }

    def _prompted(self, prompt: Prompt) -> None:
        if self._repeats:
            line = {**prompt.line, "session_id": self._agent.session.id, "isReplay": True}
            print_lines([{"uuid": self._new_id(), "parent_tool_use_id": None, **line}])
        if self._is_busy:
            self._agent.queue(prompt.content)
        else:
            self._prompts.put_nowait(prompt)

    async def _asked(self, request: Asked) -> None:
        own = {"initialize": self._initialize, "mcp_status": self._status_of_servers}
        act = own.get(request.what) or _REQUESTS.get(request.what)
        if act is None:
            print_lines([refusing(request.id, f"siding agent does not know {request.what!r}")])
            return
        try:
            print_lines([answering(request.id, await act(self._agent, request.fields))])
        except SidingError as error:
            print_lines([refusing(request.id, error.message)])

    async def _status_of_servers(
        self, _agent: Agent, _fields: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        return {"mcpServers": [dict(each) for each in self._servers.states]}

    async def _initialize(self, agent: Agent, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        callbacks = registered(fields)
        if callbacks:
            transcript = agent.transcript
            common = {
                "session_id": agent.session.id,
                "transcript_path": "" if transcript is None else str(transcript),
                "cwd": str(agent.workspace),
                "permission_mode": agent.mode,
            }
            self._hooks = ClientHooks(self._client, callbacks, common)
            agent.use_hooks(self._hooks)
        if fields.get("agents"):
            agent.add_subagents(kinds_in(fields["agents"]))
        return {
            **_CAPABILITIES,
            "agents": [
                {"name": each.name, "description": each.description}
                for each in agent.subagents.values()
            ],
            "models": [{"value": agent.model, "displayName": agent.model, "description": ""}],
            "hook_on_failure_supported": True,
            "unsupported_hooks": sorted(set(callbacks) - set(MOMENTS)),
        }


_CAPABILITIES: Mapping[str, Any] = {
    "commands": [
        {
            "name": "compact",
            "description": "Sum the conversation up, and go on with the summary",
            "argumentHint": "[what the summary has to keep]",
        }
    ],
    "output_style": "default",
    "available_output_styles": ["default"],
    "account": {},
}


def _not_answered(why: str) -> TurnEnded:
    return TurnEnded(
        Ending.STOPPED,
        text=why,
        requests=0,
        by_model={},
        denials=(),
        wall_s=0.0,
        model_s=0.0,
        error=why,
    )


async def _interrupt(agent: Agent, _fields: Mapping[str, Any]) -> Mapping[str, Any]:
    agent.interrupt()
    return {}


async def _context_usage(agent: Agent, _fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return usage_of_context(agent)


async def _set_model(agent: Agent, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    model = fields.get("model")
    if not isinstance(model, str | None):
        raise UsageError("set_model needs the name of a model")
    agent.set_model(model)
    return {}


async def _set_mode(agent: Agent, fields: Mapping[str, Any]) -> Mapping[str, Any]:
    agent.set_mode(str(fields.get("mode")))
    return {"mode": agent.mode}


async def _settings(agent: Agent, _fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"applied": {"model": agent.model}}


_REQUESTS: Mapping[str, Callable[[Agent, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]] = {
    "interrupt": _interrupt,
    "set_model": _set_model,
    "set_permission_mode": _set_mode,
    "get_context_usage": _context_usage,
    "get_settings": _settings,
}


_OF_SERVER = "mcp__"


# Which colour a program gives a part is up to it; these are names that Claude Code uses.
_COLOURS = {"system prompt": "promptBorder", "tools": "inactive", "messages": "purple"}


def usage_of_context(agent: Agent) -> dict[str, Any]:
    """Return the answer to `get_context_usage`. All figures are estimated by length."""
    size = agent.context_size()
    parts = {
        "system prompt": size.system,
        "tools": sum(size.tools.values()),
        "messages": size.messages,
    }
    total = sum(parts.values())
    free = max(0, size.window - total)
    categories = [
        {"name": name, "tokens": tokens, "color": _COLOURS[name]} for name, tokens in parts.items()
    ]
    return {
        "categories": [*categories, {"name": "free space", "tokens": free, "color": "inactive"}],
        "totalTokens": total,
        "maxTokens": size.summed_up_at,
        "rawMaxTokens": size.window,
        "percentage": round(100 * total / size.window, 1),
        "model": agent.model,
        "isAutoCompactEnabled": True,
        "autoCompactThreshold": size.summed_up_at,
        "memoryFiles": [],
        "mcpTools": [
            {"name": name, "serverName": name.split("__")[1], "tokens": tokens, "isLoaded": True}
            for name, tokens in size.tools.items()
            if name.startswith(_OF_SERVER)
        ],
        "systemTools": [
            {"name": name, "tokens": tokens}
            for name, tokens in size.tools.items()
            if not name.startswith(_OF_SERVER)
        ],
        "agents": [],
        "gridRows": [],
    }
