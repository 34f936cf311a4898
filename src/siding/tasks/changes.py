"""Choose the active task, and change what a task says about itself."""

from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.events import TaskChanged
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.place.selection import select, task_of_run
from siding.record.place.terminal_task import make_current
from siding.record.tasks.states import TaskState
from siding.record.tasks.task import Task
from siding.record.workspaces.attempts import Attempt
from siding.tasks.blockers import refuse_blocked, refuse_circle


class TaskUpdate(NamedTuple):
    """What to change of a task; None leaves a field as it is, an empty value empties it."""

    owner: str | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None
    blocked_by: tuple[str, ...] | None = None  # names or ids of tasks


class Switched(NamedTuple):
    """The task that was switched to, and whether this terminal was bound to it."""

    task: Task
    is_bound: bool


def switch(project: Project, named: str, *, force: bool = False) -> Switched:
    """Make a task the one that this terminal is about, and the active one.

    Raises UsageError for a closed task and inside a run, whose task it is, and TaskBlocked for a
    task that waits for another one, unless `force` is set.
    """
    task = select(project, named)
    inside = task_of_run(project)
    if inside is not None and inside != task.id:
        raise UsageError(
            f"this is part of a run of task {inside}, so commands here are about that task",
            hint=f"`-t {task.id}` names another one; `siding switch` works in another terminal",
        )
    if task.status is TaskState.CLOSED:
        raise UsageError(
            f"task {task.name!r} is closed",
            hint="start a new one with `siding task start NAME`",
        )
    if not force:
        refuse_blocked(project, task, "switching to it")
    with project.changing(f"switching to task {task.id}"):
        is_bound = make_current(project, task.id)
    return Switched(task, is_bound)


def update(project: Project, named: str | None, wanted: TaskUpdate, *, force: bool = False) -> Task:
    """Change the owner, description, tags or blockers of a task.

    Raises UsageError if a task would block itself, directly or through other tasks, and TaskBlocked
    if somebody would become the owner of a task that waits for another one, unless `force` is set.
    """
    with Attempt(project, "task.update") as attempt:
        chosen = select(project, named)
        attempt.about(chosen)
        blockers = [resolve(project, each).id for each in wanted.blocked_by or ()]
        with project.changing(f"updating task {chosen.id}"):
            task = project.tasks.load(chosen.id)
            if wanted.blocked_by is not None:
                refuse_circle(project, task, blockers)
                task = task._replace(blocked_by=tuple(dict.fromkeys(blockers)))
            task = _claimed(project, task, wanted.owner, force=force)
            metadata = dict(task.metadata)
            if wanted.description is not None:
                metadata["description"] = project.redaction.text(wanted.description)
            if wanted.tags is not None:
                metadata["tags"] = list(wanted.tags)
            task = task._replace(metadata=metadata, updated_at=project.app.now())
            project.tasks.save(task)
    project.events.emit(TaskChanged(task, "updated"))
    return task


def _claimed(project: Project, task: Task, owner: str | None, *, force: bool) -> Task:
    if owner is None or owner == task.owner:
        return task
    if owner and not force and task.status is not TaskState.CLOSED:
        refuse_blocked(project, task, "giving it an owner")
    return task._replace(owner=owner)
