"""What a run may read of its own task's record: its steps, and what one of them changed."""

from itertools import islice
from typing import Any

from siding.broker.desk import Desk
from siding.broker.messages import PatchRequest, StepsRequest
from siding.record.ledger.step import Step
from siding.record.recording.difference import difference
from siding.record.recording.steps import log

_MOST_PATCH = 2_000_000  # characters


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
