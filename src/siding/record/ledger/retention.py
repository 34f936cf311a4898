"""Decide which steps' snapshots may be freed. Pure.

A step stays whole, whatever its age, if it is an apply, or brought a branch in: what was applied
can be shown and taken back. So does every step that is younger than the age that was asked for,
with all states that it names: the one before it, the one it went back to, the one an undo of it
restores. Of the older steps

* a closed or deleted task keeps the newest state;
* an open task keeps the line, but for what Siding recorded by itself between two steps
  (a checkpoint of changes made outside): the steps before and after it stay. What was left behind
  goes.

The base is no step, so it is never freed. A line of a kind that is not known stays whole.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, assert_never

from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
)

OUTSIDE = "outside"  # the origin of a checkpoint that nobody asked for
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def freeable(
    steps: Sequence[Step], *, before: datetime, is_open: bool, lost: int = 0
) -> dict[str, tuple[Step, ...]]:
    """Return the snapshots that may be freed, each with the steps whose state it is.

    `steps` are all of the task's, oldest first; those older than `before` count as old. Steps up to
    number `lost` have no snapshots any more.
    """
    line = present_line(steps).line if is_open else frozenset()
    stays: set[str | None] = {step.snapshot for step in steps[-1:]}
    found: dict[str, list[Step]] = {}
    for step in steps:
        if _stays_whole(step, before):
            stays |= named_in(step.line)
        elif step.number in line and not _is_between(step):
            stays.add(step.snapshot)
        elif step.snapshot and step.number > lost:
            found.setdefault(step.snapshot, []).append(step)
    return {sha: tuple(each) for sha, each in found.items() if sha not in stays}


def freeable_then(steps: Sequence[Step], *, at: str, older_s: float) -> dict[str, tuple[Step, ...]]:
    """Return what a freeing of this time and age may have freed at most; nothing if that time is
    none. `steps` are those of the task at that time.
    """
    try:
        before = datetime.fromisoformat(at) - timedelta(seconds=older_s)
        return freeable(steps, before=before, is_open=False)
    except (ValueError, TypeError, OverflowError):
        return {}


def named_in(value: Any) -> set[str | None]:
    """Return every word in a JSON value that can be the id of an object."""
    return {text for text in _texts(value) if _OBJECT.fullmatch(text)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        return
    inside: Iterable[Any] = ()
    if isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    for each in inside:
        yield from _texts(each)


def _stays_whole(step: Step, before: datetime) -> bool:
    if _stays_at_any_age(step):
        return True
    try:
        return datetime.fromisoformat(step.ended_at or step.started_at) >= before
    except (ValueError, TypeError):  # TypeError: the time was written without its offset
        return True  # it is not known how old it is


def _stays_at_any_age(step: Step) -> bool:
    match step:
        case ApplyStep() | ApplyUndoStep() | ApplyRedoStep() | MergeStep() | ForeignStep():
            return True
        case RunStep() | TurnStep() | CheckpointStep() | PhaseStep():
            return False
        case RollbackStep() | UndoStep() | RedoStep():
            return False
        case _:
            assert_never(step)


def _is_between(step: Step) -> bool:
    checkpoint = step.as_checkpoint
    return checkpoint is not None and checkpoint.origin == OUTSIDE
