"""The calls of tools in a turn: what an agent says of each, in several messages, as events.

A call is told once it is known what it does: some agents begin to speak of it before they have its
input. What they say later of a call replaces what they said before.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from siding.agents.acp.habits import Habits
from siding.agents.talking.port import (
    Edit,
    Event,
    Planned,
    PlanStep,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)
from siding.ground.storage.fields import mapping, mappings, text

_KINDS = frozenset(
    ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other")
)
_WHERE = re.compile(r"\[current working directory (.*)\]")  # as Gemini CLI has it
_ENDS = {"completed": False, "failed": True}  # and whether it has failed


class ToolCall:
    """One call."""

    def __init__(self, call: str, habits: Habits, first: Mapping[str, Any]) -> None:
        self.id = call
        self.name = habits.tool_name(first)
        self.title = ""
        self.kind = "other"
        self.input: Mapping[str, Any] = {}
        self.edits: tuple[Edit, ...] = ()
        self.about = ""  # what it says of itself, or prints
        self.is_told = False
        self.is_ended = False
        self.printed = ""
        self._habits = habits

    def take(self, said: Mapping[str, Any]) -> None:
        self.title = text(said.get("title")) or self.title
        kind = text(said.get("kind"))
        if kind:
            self.kind = kind if kind in _KINDS else "other"
        # To ask, some say the command alone, and before that where it runs.
        self.input = {**self.input, **mapping(said.get("rawInput"))}
        self.edits = self._edits(said) or self.edits
        if isinstance(said.get("content"), list):
            self.about = printed_in(said)

    @property
    def command(self) -> str:
        """The line for the shell, "" if it is no call of one."""
        if self.kind != "execute":
            return ""
        given = self.input.get("command") or self.input.get("cmd")
        if isinstance(given, list):
            return shlex.join(map(str, given))
        return text(given) or self.title.strip("`")

    @property
    def cwd(self) -> str:
        named = self.input.get("cwd") or self.input.get("workdir") or self.input.get("directory")
        found = _WHERE.match(self.about)
        return text(named) or (found.group(1) if found else "")

    @property
    def reason(self) -> str:
        """Why it is done, in the agent's words."""
        said = _WHERE.sub("", self.about).strip()
        if said.startswith("(") and said.endswith(")"):
            said = said[1:-1]
        return text(self.input.get("description")) or said

    def _edits(self, said: Mapping[str, Any]) -> tuple[Edit, ...]:
        diffs = [each for each in mappings(said.get("content")) if each.get("type") == "diff"]
        patch = self._habits.patch(said)
        if patch and len(diffs) < 2:
            path = text(diffs[0].get("path")) if diffs else self._path(said)
            return (Edit(path=path, patch=patch),)
        return tuple(
            Edit(
                path=text(each.get("path")),
                old=each["oldText"] if isinstance(each.get("oldText"), str) else None,
                new=text(each.get("newText")),
            )
            for each in diffs
        )

    def _path(self, said: Mapping[str, Any]) -> str:
        for each in mappings(said.get("locations")):
            return text(each.get("path"))
        return self.edits[0].path if self.edits else ""


class Calls:
    """The calls of a turn."""

    def __init__(self, habits: Habits) -> None:
        self._habits = habits
        self._calls: dict[str, ToolCall] = {}

    def begin(self) -> None:
        """Forget those of the turn before."""
        self._calls.clear()

    def said(self, update: Mapping[str, Any]) -> list[Event]:
        """Take a `tool_call` or a `tool_call_update`; return what happened."""
        status = text(update.get("status"))
        call = self._taken(update)
        if call.is_ended:
            return []
        events: list[Event] = []
        if status not in ("", "pending") or _says_what(update):
            events += self._tell(call)
        if status in _ENDS:
            call.is_ended = True
            failed = _ENDS[status]
            said = printed_in(update) or _result_in(update)
            events.append(ToolEnded(call=call.id, failed=failed, text=said, edits=call.edits))
        elif call.is_told and update.get("sessionUpdate") == "tool_call_update":
            events += _printed(call, printed_in(update))
        return events

    def asked(self, said: Mapping[str, Any]) -> tuple[ToolCall, list[Event]]:
        """Take the call that a permission is asked for; return it, and what happened."""
        call = self._taken(said)
        return call, self._tell(call)

    def ended(self) -> list[Event]:
        """Return the ends of the calls that nothing more was said of: the turn is over."""
        open_ = [each for each in self._calls.values() if each.is_told and not each.is_ended]
        self._calls.clear()
        return [ToolEnded(call=each.id, failed=True) for each in open_]

    def _taken(self, said: Mapping[str, Any]) -> ToolCall:
        name = text(said.get("toolCallId"))
        call = self._calls.get(name)
        if call is None:
            call = self._calls[name] = ToolCall(name, self._habits, said)
        call.take(said)
        return call

    def _tell(self, call: ToolCall) -> list[Event]:
        if call.is_told:
            return []
        call.is_told = True
        told = ToolStarted(
            call=call.id,
            name=call.name,
            title=call.title or call.name,
            kind=call.kind,
            input=call.input,
            edits=call.edits,
        )
        if self._habits.plan_tool and call.name == self._habits.plan_tool:
            plan = planned_in(call.input.get("todos"))
            return [told, plan] if plan.steps else [told]
        return [told]


def _says_what(update: Mapping[str, Any]) -> bool:
    """Tell whether a call has its input. (opencode's first message has where it runs, no more.)"""
    return bool(mapping(update.get("rawInput")).keys() - {"cwd"} or update.get("content"))


def _printed(call: ToolCall, now: str) -> list[Event]:
    """Return what a running call has printed since the last message, which had all until then."""
    before = call.printed
    call.printed = now or before
    if not now or now == before:
        return []
    new = now.removeprefix(before)
    return [ToolOutput(call=call.id, text=new)]


def printed_in(said: Mapping[str, Any]) -> str:
    """Return the text in the content of a message about a call."""
    pieces = []
    for each in mappings(said.get("content")):
        block = mapping(each.get("content"))
        if each.get("type") == "content" and block.get("type") == "text":
            pieces.append(text(block.get("text")))
    return "".join(pieces)


def _result_in(said: Mapping[str, Any]) -> str:
    result = said.get("rawOutput")
    if isinstance(result, str):
        return result
    fields = mapping(result)
    for name in ("output", "error", "message", "content"):
        if isinstance(fields.get(name), str):
            return text(fields[name])
    return ""


def planned_in(entries: object) -> Planned:
    """Return the plan in a list of its steps."""
    return Planned(
        steps=tuple(
            PlanStep(text=text(each.get("content")), status=text(each.get("status")) or "pending")
            for each in mappings(entries)
        )
    )
