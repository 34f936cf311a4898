"""What a call would do, as lines for the person who is asked about it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.assistant.front_end import Call, Use

_MOST = 40  # lines
Shown = tuple[str, str]  # a line, and its style


def preview(call: Call, use: Use) -> list[Shown]:
    """Return a command whole, and the beginning of what would be written to a file."""
    if use.command:
        return [(line, "bold") for line in use.command.splitlines()]
    lines = [(use.text, "bold"), *_changed(call.given)]
    if len(lines) <= _MOST:
        return lines
    return [*lines[: _MOST - 1], (f"… and {len(lines) - _MOST + 1} more lines", "dim")]


def _changed(given: Mapping[str, Any]) -> Iterator[Shown]:
    for change in _changes(given):
        yield from (("- " + line, "red") for line in _lines(change.get("old_string")))
        yield from (("+ " + line, "green") for line in _lines(change.get("new_string")))
    for name in ("content", "new_source"):
        yield from (("+ " + line, "green") for line in _lines(given.get(name)))


def _changes(given: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    edits = given.get("edits")
    if isinstance(edits, list):
        return [each for each in edits if isinstance(each, dict)]
    return [given]


def _lines(value: object) -> list[str]:
    return value.splitlines() if isinstance(value, str) else []
