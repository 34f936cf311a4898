"""What changed outside a workspace while a command ran, on the screen."""

from collections.abc import Mapping
from typing import Any

from siding.cli.screen import Screen, inert


def say_isolation(screen: Screen, record: Mapping[str, Any]) -> None:
    """Say at once what a run left changed outside its workspace."""
    alarms = _changes(record, "alarm")
    if alarms:
        screen.warn("outside the workspace, while this ran (by it or by somebody else):")
        for each in alarms:
            screen.warn(f"  {_words(each)}")
    for each in _changes(record, "note"):
        screen.note(f"outside the workspace: {_words(each)}", "dim")


def isolation_lines(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the lines of `siding show` about it."""
    return [("outside", _words(each)) for each in _changes(record)]


def strayed(record: Mapping[str, Any]) -> str:
    """Return what `siding log` adds to a step that something happened outside of."""
    return " (outside!)" if _changes(record, "alarm") else ""


def _changes(record: Mapping[str, Any], weight: str | None = None) -> list[Mapping[str, Any]]:
    found = record.get("isolation")
    changes = found.get("changes") if isinstance(found, dict) else None
    return [
        each
        for each in (changes if isinstance(changes, list) else [])
        if isinstance(each, dict) and weight in (None, each.get("weight"))
    ]


def _words(change: Mapping[str, Any]) -> str:
    from siding.app.isolation import say

    return inert(say(change))
