"""What an agent may do that asks first: by its level, its workspace, and the policy."""

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from acp.schema import ToolCallUpdate

from siding.agents.acp.broker import Broker
from siding.agents.headless.port import Level

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
