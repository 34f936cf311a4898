"""What a run may know of its own task: its steps, what one of them changed, and what happens."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from siding.broker.desk import Desk
from siding.broker.messages import PatchRequest, StepsRequest
from siding.record.ledger.step import Step
from siding.record.recording.difference import difference
from siding.record.recording.steps import log
from siding.record.runs.paused import PausedFile

_MOST_PATCH = 2_000_000  # characters
_LOOK_S = 0.05  # a pause is seldom shorter


def steps(desk: Desk, request: StepsRequest) -> dict[str, Any]:
    """Return the newest steps of the task, in their order."""
    _task, found = log(desk.project, desk.task.id, limit=request.limit)
    return {"steps": [_brief(each) for each in found]}


def patch(desk: Desk, request: PatchRequest) -> dict[str, Any]:
    """Return the patch of a step. Raises NotFound."""
    number = str(request.step)
    parts: list[str] = []
    size = 0
    with difference(desk.project, desk.task.id, at=number, start=None, end=None) as found:
        lines = iter(found.patch_lines())
        while size <= _MOST_PATCH and (some := list(islice(lines, 1000))):
            parts += some
            size += sum(map(len, some))
        title = found.title
    text = "".join(parts)
    return {"title": title, "patch": text[:_MOST_PATCH], "cut": len(text) > _MOST_PATCH}


def _brief(step: Step) -> dict[str, Any]:
    return {
        "step": step.number,
        "kind": step.kind,
        "status": step.status,
        "ended_at": step.ended_at,
        "command": list(step.cmd),
        "message": step.message,
        "exit_code": step.exit_code,
        "files": step.files,
        "additions": step.additions,
        "deletions": step.deletions,
    }


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
