"""A call of a tool while it runs, as a line that a person reads, and what it has printed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from siding.chat.edits import counted_lines, patch_lines
from siding.chat.parts import Call, CallState
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text

_NAMES = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Run",
    "think": "Think",
    "fetch": "Fetch",
}
_LONGEST_ABOUT, _LONGEST_RESULT = 400, 80  # characters
MOST_LINES = 2_000  # of output that is kept of a call: its beginning and its end
_LONGEST_LINE = 2_000
_MOST_PIECES = 4_000  # of output that a call which runs has printed


class Running(NamedTuple):
    """A call that has not ended."""

    call: str
    title: str
    shown: Call
    kind: str = "other"
    at: str = ""
    inside: str = ""
    edits: tuple[Mapping[str, Any], ...] = ()
    ask: str = ""  # for which it waits
    asked_at: str = ""
    waited_ms: int = 0  # for a person
    is_question: bool = False
    pieces: tuple[str, ...] = ()  # what it has printed so far

    def printed(self, piece: str) -> "Running":
        """Return it with more output, of which the end is kept."""
        return self._replace(pieces=(*self.pieces, piece)[-_MOST_PIECES:])

    def now(self) -> Call:
        """Return it as it is shown, with what it has printed so far."""
        if self.shown.is_patch or not self.pieces:
            return self.shown
        return self.shown._replace(output=lines_of("".join(self.pieces)))

    def goes_on(self, at: str) -> "Running":
        """Return it as it is when what it asked was answered."""
        waited_ms = self.waited_ms + _between(self.asked_at, at)
        shown = self.shown._replace(state=CallState.RUNS)
        return self._replace(ask="", shown=shown, waited_ms=waited_ms)


def started(line: Mapping[str, Any]) -> Running:
    """Return a call that has begun."""
    name, title = text(line.get("name")), text(line.get("title"))
    kind = text(line.get("kind")) or "other"
    title = title or name
    about = title.removeprefix(name).strip() if title.startswith(f"{name} ") else title
    shown = _NAMES.get(kind) or name or "Tool"
    about = " ".join(about.split())[:_LONGEST_ABOUT]
    edits = tuple(mappings(line.get("edits")))
    call = Call(shown, "" if about == shown else about, output=_patch(edits), is_patch=bool(edits))
    return Running(
        call=text(line.get("call")),
        title=title,
        shown=call,
        kind=kind,
        at=text(line.get("at")),
        inside=text(line.get("inside")),
        edits=edits,
    )


def waits(running: Running, line: Mapping[str, Any]) -> Running:
    """Return a call that waits for a person."""
    edits = tuple(mappings(line.get("edits"))) or running.edits
    shown = running.shown._replace(state=CallState.WAITS)
    if edits:
        shown = shown._replace(output=_patch(edits), is_patch=True)
    return running._replace(
        ask=text(line.get("ask")),
        asked_at=text(line.get("at")),
        is_question="choices" in line,
        shown=shown,
        edits=edits,
    )


def ended(running: Running, line: Mapping[str, Any]) -> Call:
    """Return a call that has ended."""
    failed = line.get("failed") is True
    edits = tuple(mappings(line.get("edits"))) or running.edits
    said = text(line.get("text")) or "".join(running.pieces)
    call = running.shown._replace(
        state=CallState.FAILED if failed else CallState.DONE,
        took_ms=max(0, _between(running.at, text(line.get("at"))) - running.waited_ms),
    )
    if running.is_question and not failed:
        return call  # what was chosen is said where it was asked
    if edits and not failed:
        added, removed = counted_lines([each for edit in edits for each in patch_lines(edit)])
        return call._replace(result=f"+{added} -{removed}", output=_patch(edits), is_patch=True)
    lines = lines_of(said)
    return call._replace(
        result=_result(running.kind, lines, failed=failed), output=lines, is_patch=False
    )


def lines_of(said: str) -> tuple[str, ...]:
    """Return the lines of an output, the middle left out of many."""
    lines = said.strip("\n").split("\n") if said.strip() else []
    if len(lines) > MOST_LINES:
        left = len(lines) - MOST_LINES
        half = MOST_LINES // 2
        lines = [*lines[:half], f"… {left:,} more lines", *lines[-half:]]
    return tuple(each[:_LONGEST_LINE] for each in lines)


def _result(kind: str, lines: tuple[str, ...], *, failed: bool) -> str:
    if not lines:
        return ""
    if failed:
        return " ".join(lines[0].split())[:_LONGEST_RESULT]
    if kind == "read" or len(lines) > 1:
        last = " ".join(lines[-1].split())
        if kind == "execute" and len(last) <= _LONGEST_RESULT // 2:
            return last
        return counted(len(lines), "line")
    return " ".join(lines[0].split())[:_LONGEST_RESULT]


def _patch(edits: tuple[Mapping[str, Any], ...]) -> tuple[str, ...]:
    found: list[str] = []
    for each in edits:
        if len(edits) > 1:
            found.append(text(each.get("path")))
        found += patch_lines(each)
    return lines_of("\n".join(found))


def _between(first: str, then: str) -> int:
    try:
        took = datetime.fromisoformat(then) - datetime.fromisoformat(first)
    except ValueError:
        return 0
    return max(0, int(took.total_seconds() * 1000))
