"""An agent that speaks ACP, made with the SDK: it answers as a table says. It is no model.

    python3 acp_agent.py TABLE.json

The table has the answer by a word of the prompt: `text`, `files`, `command` (asked for, then run),
`wait`, `stop` (why the turn ends), `write` (through the client), `noise` (bytes on standard error).
Conversations are kept beside the table, so that another process goes on with them.
"""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    RequestError,
    run_agent,
    start_tool_call,
    update_agent_message_text,
)
from acp.schema import (
    AgentCapabilities,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
    Usage,
)

OPTIONS = [
    PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
    PermissionOption(option_id="no", name="No", kind="reject_once"),
]


class Told:
    """Answers as it is told."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._memory = table.with_suffix(".memory")
        self._memory.mkdir(exist_ok=True)
        self._client: Any = None

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_more: Any) -> InitializeResponse:
        can = AgentCapabilities(load_session=True)
        return InitializeResponse(protocol_version=PROTOCOL_VERSION, agent_capabilities=can)

    async def new_session(self, cwd: str, **_more: Any) -> NewSessionResponse:
        number = len(list(self._memory.iterdir())) + 1
        session = f"told-{number}"
        (self._memory / session).write_text("[]")
        return NewSessionResponse(session_id=session)

    async def load_session(self, cwd: str, session_id: str, **_more: Any) -> LoadSessionResponse:
        if not (self._memory / session_id).exists():
            raise RequestError.resource_not_found(session_id)
        for said in json.loads((self._memory / session_id).read_text()):
            await self._client.session_update(session_id, update_agent_message_text(said))
        return LoadSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_more: Any) -> PromptResponse:
        said = "".join(getattr(block, "text", "") for block in prompt)
        answers = json.loads(self._table.read_text())
        answer: Any = next((it for word, it in answers.items() if word in said), {"text": "?"})
        memory = self._memory / session_id
        before = json.loads(memory.read_text())
        memory.write_text(json.dumps([*before, said]))
        sys.stderr.write("x" * answer.get("noise", 0))
        for name, content in answer.get("write", {}).items():
            await self._writes(session_id, name, content)
        if "command" in answer:
            await self._runs(session_id, answer["command"])
        await asyncio.sleep(answer.get("wait", 0))
        text = answer.get("text", "").replace("{before}", " ".join(before))
        for piece in (text[:5], text[5:]):
            await self._client.session_update(session_id, update_agent_message_text(piece))
        usage = Usage(total_tokens=120, input_tokens=100, output_tokens=20)
        stop: Any = answer.get("stop", "end_turn")
        return PromptResponse(stop_reason=stop, usage=usage)

    async def _writes(self, session: str, name: str, content: str) -> None:
        try:
            await self._client.write_text_file(session_id=session, path=name, content=content)
        except RequestError as error:
            sys.stderr.write(f"{error.data}\n")

    async def _runs(self, session: str, command: str) -> None:
        given = {"command": command}
        call = start_tool_call("c1", f"`{command}`", kind="execute", raw_input=given)
        await self._client.session_update(session, call)
        asked = ToolCallUpdate(
            tool_call_id="c1", title=f"`{command}`", kind="execute", raw_input=given
        )
        answer = await self._client.request_permission(
            session_id=session, tool_call=asked, options=OPTIONS
        )
        if getattr(answer.outcome, "option_id", "no") == "yes":
            await asyncio.to_thread(subprocess.run, ["sh", "-c", command], stdout=sys.stderr)


if __name__ == "__main__":
    agent: Any = Told(Path(sys.argv[1]))  # it has what it is asked for, and no more
    asyncio.run(run_agent(agent))
