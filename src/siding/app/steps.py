"""The recorded steps of a task, and the one in progress. Reading takes no lock."""

from typing import Any, NamedTuple

from siding.app.project import Project
from siding.app.selection import select
from siding.errors import NotFound, UsageError
from siding.ids import step_number
from siding.ledger.running import Running, read_running
from siding.ledger.step import Step, step_from
from siding.storage.locks import FileLock, Holder
from siding.tasks.task import Task

__all__ = ["InProgress", "Step", "in_progress", "log", "progress_record", "running_step", "step"]


class InProgress(NamedTuple):
    """A step that has begun and is not in the ledger."""

    running: Running
    holder: Holder | None  # None: its writer is gone, and the step will be recorded as interrupted


def log(project: Project, named: str | None, *, limit: int | None) -> tuple[Task, list[Step]]:
    """Return a task and its newest steps, oldest first; all of them when `limit` is None."""
    task = select(project, named)
    ledger = project.ledger(task.id)
    return task, list(ledger.steps()) if limit is None else ledger.tail(limit)


def step(project: Project, named: str | None, wanted: str) -> tuple[Task, Step]:
    """Return one step, named by its number or ``last``; raise NotFound."""
    task = select(project, named)
    ledger = project.ledger(task.id)
    if wanted == "last":
        found = ledger.last()
    else:
        found = ledger.find(_number(wanted))
    if found is None:
        raise NotFound(
            f"task {task.name!r} has no step {wanted!r}", hint="`siding log` shows the steps"
        )
    return task, found


def in_progress(project: Project, task: Task) -> InProgress | None:
    """Return the step that has begun and is not recorded yet."""
    layout = project.task_layout(task.id)
    running = read_running(layout.running_json)
    if running is None:
        return None
    lock = FileLock(layout.lock)
    return InProgress(running=running, holder=lock.holder() if lock.is_locked() else None)


def running_step(project: Project, named: str | None, wanted: str) -> tuple[Task, Step] | None:
    """Return the step in progress, when that is the one that is wanted."""
    task = select(project, named)
    found = in_progress(project, task)
    if found is None:
        return None
    if wanted != "last" and _number(wanted) != found.running.number:
        return None
    return task, step_from(progress_record(found))


def progress_record(found: InProgress) -> dict[str, Any]:
    """Return a step that is not recorded yet in the form of a ledger line.

    Its status is ``running``, or ``cut off`` when its writer is gone.
    """
    return {
        "step_id": f"{found.running.number:04d}",
        "kind": found.running.kind,
        "started_at": found.running.started_at,
        "parent": found.running.parent,
        **found.running.record,
        "status": "running" if found.holder is not None else "cut off",
    }


def _number(text: str) -> int:
    try:
        return step_number(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a step", hint="give a number such as 3 or 0003, or `last`"
        ) from None
