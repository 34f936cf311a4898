"""What happens to the task of a run, told to the run as it happens."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.broker.desk import Desk
from siding.record.ledger.step import Step
from siding.record.runs.paused import PausedFile

_LOOK_S = 0.05  # a pause is seldom shorter


def happenings(desk: Desk) -> Iterator[Mapping[str, Any]]:
    """Yield what happens from now on: pauses of the task's runs, and steps of others.

    A step that `moved` the workspace has brought it to another state: what the run knows of the
    files may be wrong.
    """
    ledger, paused = desk.project.ledger(desk.task.id), PausedFile(desk.layout)
    newest = ledger.last()
    number = 0 if newest is None else newest.number
    was_paused, stamp = paused.is_there(), _stamp(desk.layout.ledger_jsonl)
    yield {"event": "listening", "step": None if newest is None else newest.id}
    while True:
        desk.idle(_LOOK_S)
        if paused.is_there() != was_paused:
            was_paused = not was_paused
            yield {"event": "paused" if was_paused else "resumed"}
        now = _stamp(desk.layout.ledger_jsonl)
        if now == stamp:
            continue
        stamp = now
        for step in _after(desk, number):
            number = step.number
            yield _told(step)


def _after(desk: Desk, number: int) -> list[Step]:
    """Return the steps after this one, oldest first."""
    ledger, count = desk.project.ledger(desk.task.id), 8
    while True:
        found = [each for each in ledger.tail(count) if each.number > number]
        if len(found) < count:
            return sorted(found, key=lambda each: each.number)
        count *= 4


def _told(step: Step) -> dict[str, Any]:
    return {
        "event": "step",
        "step": step.id,
        "kind": step.kind,
        "run": step.run or None,
        "files": step.files,
        "moved": step.as_rollback is not None and bool(step.files),
    }


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
