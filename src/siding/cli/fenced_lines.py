"""What a step's sandbox and limits were, as lines of ``siding show``."""

from collections.abc import Mapping
from typing import Any

from siding.cli.words import size


def sandbox_lines(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return a label and a text each; nothing for a run without."""
    lines: list[tuple[str, str]] = []
    told = record.get("sandbox")
    if isinstance(told, dict):
        lines.append(("sandbox", _sandbox(told)))
        open_ways = told.get("not_covered")
        lines += [("", f"open: {each}") for each in open_ways or ()]
    limits = record.get("limits")
    if isinstance(limits, dict) and limits:
        lines.append(("limits", ", ".join(f"{k} {_amount(k, v)}" for k, v in limits.items())))
    return lines


def _sandbox(told: Mapping[str, Any]) -> str:
    if told.get("engine") is None:
        return f"none: {told.get('reason') or 'no engine works'}"
    words = [f"{told.get('engine')}, profile {told.get('profile')}"]
    words.append(f"network {told.get('network')}, git {told.get('git')}")
    return ", ".join(words)


def _amount(name: str, value: object) -> str:
    return str(value) if name == "processes" or not isinstance(value, int) else size(value)
