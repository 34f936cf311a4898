"""What the workflow `race` returns, as a value."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, text, whole

CHOICES = ("smallest", "judge", "ask", "none")


class Entrant(NamedTuple):
    """One agent of a race. `passed` is None if nothing was checked."""

    agent: str
    fork: str
    passed: bool | None
    files: int
    additions: int
    deletions: int


class RaceResult(NamedTuple):
    """How a race came out; `winner` is "" if nothing was brought back."""

    winner: str
    why: str
    step: str
    entrants: tuple[Entrant, ...]


def race_result(value: Mapping[str, Any]) -> RaceResult:
    """Read what the script returned."""
    return RaceResult(
        winner="" if value.get("conflicts") else text(value.get("winner")),
        why=text(value.get("why")),
        step=text(value.get("step")),
        entrants=tuple(map(_entrant, mappings(value.get("entries")))),
    )


def _entrant(entry: Mapping[str, Any]) -> Entrant:
    changed, passed = mapping(entry.get("changed")), entry.get("passed")
    return Entrant(
        agent=text(entry.get("agent")),
        fork=text(entry.get("fork")),
        passed=passed if isinstance(passed, bool) else None,
        files=whole(changed.get("files")),
        additions=whole(changed.get("additions")),
        deletions=whole(changed.get("deletions")),
    )
