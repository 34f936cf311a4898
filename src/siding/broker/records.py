"""What a run may read of its own task's record: its steps, and what one of them changed."""

from itertools import islice
from typing import Any

from siding.broker.desk import Desk
from siding.broker.request import BadRequest, Request
from siding.record.ledger.step import Step
from siding.record.recording.difference import difference
from siding.record.recording.steps import log

_USUAL_STEPS = 20
_MOST_STEPS = 200
_MOST_PATCH = 2_000_000  # characters


def steps(desk: Desk, request: Request) -> dict[str, Any]:
    """Return the newest steps of the task, in their order."""
    limit = _whole(request, "limit", default=_USUAL_STEPS, most=_MOST_STEPS)
    _task, found = log(desk.project, desk.task.id, limit=limit)
    return {"steps": [_brief(each) for each in found]}


def patch(desk: Desk, request: Request) -> dict[str, Any]:
    """Return the patch of a step. Raises NotFound."""
    number = str(_whole(request, "step", default=0, most=10**9))
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


def _whole(request: Request, name: str, *, default: int, most: int) -> int:
    value = request.fields.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise BadRequest(f"{request.what}: {name!r} must be a whole number from 1 to {most}")
    return value
