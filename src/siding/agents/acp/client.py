"""The client's side of ACP, for an agent without a person: what it says is printed, what it asks is
answered.

What it may do is asked first, and goes by its level, its workspace, and the policy
(`Permissions`).
"""

import asyncio
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from acp import Client, RequestError
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
    UsageUpdate,
    WriteTextFileResponse,
)

from siding.agents.acp.broker import Broker
from siding.agents.headless.port import Level

# -- What it may do that it asks for first: by its level, its workspace, and the policy ------------

_LOOKS = frozenset({"read", "search", "think", "fetch", "switch_mode"})
_EDITS = frozenset({"edit", "delete", "move"})


class Permissions:
    """Answers for the person: nobody sits at the agent.

    Commands are put to the policy, which may put them to a person. Where no policy judges, they are
    refused below `Level.ALL`, unless `tools` has their kind or their title.
    """

    def __init__(
        self, *, root: str, level: Level, tools: Sequence[str], is_judged: bool, broker: Broker
    ) -> None:
        self._root = os.path.realpath(root)
        self._level = level
        self._tools = frozenset(tools)
        self._is_judged = is_judged
        self._broker = broker

    async def refuses(self, call: ToolCallUpdate) -> str:
        """Return why the call of a tool must not be carried out, "" if it may."""
        kind = call.kind or "other"
        for location in call.locations or ():
            if kind in _EDITS and not self.is_inside(location.path):
                return f"{location.path} is outside of the workspace"
        if kind == "execute":
            return await self._refuses_command(call)
        if kind in _LOOKS or self._level is Level.ALL or self._names(call, kind):
            return ""
        if kind in _EDITS and self._level is Level.EDIT:
            return ""
        return f"it may not {kind} anything here (permissions: {self._level})"

    def may_write(self, path: str) -> str:
        """Return why a file must not be written, "" if it may."""
        if not self.is_inside(path):
            return f"{path} is outside of the workspace"
        if self._level is Level.READ:
            return "it may not write anything here (permissions: read)"
        return ""

    def is_inside(self, path: str) -> bool:
        """Tell whether a path leads into the workspace, links followed, and not into `.git`."""
        real = os.path.realpath(os.path.join(self._root, path))
        if os.path.commonpath([self._root, real]) != self._root:
            return False
        return os.path.relpath(real, self._root).split(os.sep)[0] != ".git"

    async def _refuses_command(self, call: ToolCallUpdate) -> str:
        command = _command_of(call)
        denied = await self._broker.refuses(command, _cwd_of(call, self._root))
        if denied:
            return denied
        if self._level is Level.ALL or self._names(call, "execute"):
            return ""
        if self._level is Level.EDIT and self._is_judged and denied is not None:
            return ""  # the policy, or a person, has let it through
        return "no policy judges commands here, and it may not run any (permissions, tools)"

    def _names(self, call: ToolCallUpdate, kind: str) -> bool:
        return kind in self._tools or (call.title or "") in self._tools


def _command_of(call: ToolCallUpdate) -> str:
    """Return the line for the shell; agents that say it elsewhere have it in the title."""
    given: Mapping[str, Any] = call.raw_input if isinstance(call.raw_input, dict) else {}
    command = given.get("command") or given.get("cmd")
    if isinstance(command, list):
        return shlex.join(map(str, command))
    return str(command or (call.title or "").strip("`"))


def _cwd_of(call: ToolCallUpdate, root: str) -> str:
    given: Mapping[str, Any] = call.raw_input if isinstance(call.raw_input, dict) else {}
    return os.path.join(root, str(given.get("cwd") or given.get("workdir") or ""))


# -- What it says, and what it asks ----------------------------------------------------------------


class BridgeClient(Client):
    """Terminals and questions of forms are not offered; an agent that asks for one is refused."""

    def __init__(self, root: str, permissions: Permissions) -> None:
        self.listens = False  # what it says is of this turn
        self.dollars: float | None = None
        self._root = Path(root)
        self._permissions = permissions
        self._pieces: list[str] = []
        self._calls: set[str] = set()

    @property
    def text(self) -> str:
        """The last message: what was said after the last tool."""
        return "".join(self._pieces)

    async def session_update(self, session_id: str, update: Any, **_more: Any) -> None:
        if not self.listens:
            return
        match update:
            case AgentMessageChunk(content=TextContentBlock(text=text)):
                self._pieces.append(text)
                emit("piece", text=text)
            case ToolCallStart() | ToolCallProgress():
                self._called(update)
            case UsageUpdate(cost=cost) if cost is not None and cost.currency == "USD":
                self.dollars = cost.amount

    async def request_permission(
        self,
        session_id: str,
        tool_call: ToolCallUpdate,
        options: list[PermissionOption],
        **_more: Any,
    ) -> RequestPermissionResponse:
        self._called(tool_call)
        refused = await self._permissions.refuses(tool_call)
        wanted = ("reject_once", "reject_always") if refused else ("allow_once", "allow_always")
        if refused:
            emit("denied", name=tool_call.title or tool_call.kind or "a tool", why=refused)
        for kind in wanted:
            for option in options:
                if option.kind == kind:
                    chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                    return RequestPermissionResponse(outcome=chosen)
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    def _called(self, call: ToolCallStart | ToolCallUpdate | ToolCallProgress) -> None:
        """Take note of a call of a tool: some agents tell of it only when they ask for it."""
        if call.tool_call_id in self._calls:
            return
        self._calls.add(call.tool_call_id)
        self._pieces = []
        paths = [each.path for each in call.locations or ()]
        emit("tool", name=call.title or call.kind or "a tool", about=paths[0] if paths else "")

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_more: Any
    ) -> WriteTextFileResponse | None:
        refused = self._permissions.may_write(path)
        if refused:
            emit("denied", name=f"write {path}", why=refused)
            raise RequestError.invalid_params({"details": refused})
        await asyncio.to_thread(_write, self._root / path, content)
        return WriteTextFileResponse()

    async def read_text_file(
        self,
        session_id: str,
        path: str,
        line: int | None = None,
        limit: int | None = None,
        **_more: Any,
    ) -> ReadTextFileResponse:
        if not self._permissions.is_inside(path):
            raise RequestError.invalid_params({"details": f"{path} is outside of the workspace"})
        try:
            text = await asyncio.to_thread((self._root / path).read_text, "utf-8", "replace")
        except OSError as error:
            raise RequestError.resource_not_found(path) from error
        if line is not None or limit is not None:
            first = max(0, (line or 1) - 1)
            lines = text.splitlines(keepends=True)[first:]
            text = "".join(lines if limit is None else lines[:limit])
        return ReadTextFileResponse(content=text)

    async def create_terminal(self, *_words: Any, **_more: Any) -> Any:
        raise RequestError.method_not_found("terminal/create")

    async def terminal_output(self, session_id: str, terminal_id: str, **_more: Any) -> Any:
        raise RequestError.method_not_found("terminal/output")

    async def release_terminal(self, session_id: str, terminal_id: str, **_more: Any) -> Any:
        raise RequestError.method_not_found("terminal/release")

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_more: Any) -> Any:
        raise RequestError.method_not_found("terminal/wait_for_exit")

    async def kill_terminal(self, session_id: str, terminal_id: str, **_more: Any) -> Any:
        raise RequestError.method_not_found("terminal/kill")

    async def create_elicitation(self, message: str, mode: Any, **_more: Any) -> Any:
        raise RequestError.method_not_found("elicitation/create")

    async def complete_elicitation(self, elicitation_id: str, **_more: Any) -> None:
        """None was begun."""

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Agents send notifications of their own; none is of interest."""

    def on_connect(self, conn: Any) -> None:
        """Take note of nothing: the bridge has the connection."""


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def emit(event: str, **fields: Any) -> None:
    """Print one event; fields that are None are left out."""
    said = {name: value for name, value in fields.items() if value is not None}
    sys.stdout.write(json.dumps({"event": event, **said}) + "\n")
    sys.stdout.flush()
