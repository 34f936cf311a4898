"""Show, switch and change tasks."""

from collections.abc import Sequence

from siding.app.place.events import TaskChanged
from siding.app.place.old_home import workspace_of
from siding.app.place.project import Project
from siding.app.place.selection import resolve, select
from siding.app.waiting.board import TaskRow, rows
from siding.errors import UsageError
from siding.ids import TaskId
from siding.tasks.registry import Workspace
from siding.tasks.states import TaskState
from siding.tasks.task import Task

__all__ = ["TaskRow", "rows", "show", "switch", "update"]


def show(project: Project, named: str | None) -> tuple[Task, Workspace | None]:
    """Return the task that is named, or the current one, and its workspace."""
    task = select(project, named)
    return task, workspace_of(project, task)


def switch(project: Project, named: str) -> Task:
    """Make a task the active one; raise UsageError for a closed one."""
    task = resolve(project, named)
    if task.status is TaskState.CLOSED:
        raise UsageError(
            f"task {task.name!r} is closed",
            hint="start a new one with `siding task start NAME`",
        )
    with project.changing(f"switching to task {task.id}"):
        project.set_active(task.id)
    return task


def update(
    project: Project,
    named: str | None,
    *,
    owner: str | None = None,
    description: str | None = None,
    tags: Sequence[str] | None = None,
    blocked_by: Sequence[str] | None = None,
) -> Task:
    """Change the owner, description, tags or blockers of a task; None leaves a field as it is.

    Raises UsageError if a task would block itself, directly or through other tasks.
    """
    chosen = select(project, named)
    blockers = None if blocked_by is None else [resolve(project, each).id for each in blocked_by]
    with project.changing(f"updating task {chosen.id}"):
        task = project.tasks.load(chosen.id)
        if blockers is not None:
            _refuse_circle(project, task, blockers)
            task = task._replace(blocked_by=tuple(blockers))
        metadata = dict(task.metadata)
        if description is not None:
            metadata["description"] = project.redaction.text(description)
        if tags is not None:
            metadata["tags"] = list(tags)
        if owner is not None:
            task = task._replace(owner=owner)
        task = task._replace(metadata=metadata, updated_at=project.app.now())
        project.tasks.save(task)
    project.events.emit(TaskChanged(task, "updated"))
    return task


def _refuse_circle(project: Project, task: Task, blockers: Sequence[str]) -> None:
    waits_for = {each.id: each.blocked_by for each in project.tasks.readable()}
    seen: set[str] = set()
    todo = list(blockers)
    while todo:
        blocker = todo.pop()
        if blocker == task.id:
            raise UsageError(
                f"task {task.name!r} would wait for itself",
                hint="a task cannot be blocked by one that is blocked by it",
            )
        if blocker not in seen:
            seen.add(blocker)
            todo += waits_for.get(TaskId(blocker), ())
