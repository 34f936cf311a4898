"""Choose the active task, and change what a task says about itself.

One thing it says is what it waits for: the tasks in its `blocked_by` that are not closed.
"""

from collections.abc import Iterable

from siding.ground.errors import NotFound, SidingError, UnreadableFile, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.events import TaskChanged
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.place.selection import select, task_of_run
from siding.record.place.terminal_task import make_current
from siding.record.tasks.task import Task, TaskState
from siding.record.workspaces.attempts import Attempt

BEFORE = "-"  # named instead of a task: the one that this terminal was about before


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


class TaskBlocked(SidingError):
    """Nobody can begin to work on the task, because another task has to be closed first."""

    code = "task_blocked"


class Blocker(NamedTuple):
    """A task that has to be closed first. `state` is its status, or what is wrong with it."""

    id: str
    name: str
    state: str
    holds: bool  # the other task has to wait for it

    @property
    def told(self) -> str:
        """The blocker in a line of text."""
        return (
            f"{self.name!r} ({self.id}, {self.state})" if self.name else f"{self.id} ({self.state})"
        )


def blockers_of(project: Project, task: Task) -> list[Blocker]:
    """Return the tasks that `task` names as its blockers, also those that no longer hold it.

    A closed or deleted task holds nothing. One whose document cannot be read may be open, so it
    does.
    """
    return [_blocker(project, TaskId(each)) for each in task.blocked_by]


def refuse_blocked(project: Project, task: Task, what: str) -> None:
    """Raise TaskBlocked if the task waits for another one; `what` is what was asked for."""
    holding = [each.told for each in blockers_of(project, task) if each.holds]
    if holding:
        raise TaskBlocked(
            f"task {task.name!r} is blocked by {', '.join(holding)}: {what} has to wait",
            hint="close what blocks it first; --force goes ahead all the same, and "
            f"`siding task update {task.id} --blocked-by ''` takes the block away",
        )


def refuse_circle(project: Project, task: Task, blockers: Iterable[str]) -> None:
    """Raise UsageError if the task would wait for itself, directly or through other tasks."""
    waits_for = {each.id: each for each in project.tasks.readable()}
    todo: list[tuple[str, ...]] = [(each,) for each in blockers]
    seen: set[str] = set()
    while todo:
        way = todo.pop()
        if way[-1] == task.id:
            names = [waits_for[TaskId(each)].name for each in way]
            raise UsageError(
                f"task {task.name!r} would wait for itself: "
                + " waits for ".join(map(repr, [task.name, *names])),
                hint="a task cannot be blocked by one that is blocked by it",
            )
        if way[-1] not in seen and TaskId(way[-1]) in waits_for:
            seen.add(way[-1])
            todo += [(*way, each) for each in waits_for[TaskId(way[-1])].blocked_by]


def _blocker(project: Project, task_id: TaskId) -> Blocker:
    try:
        found = project.tasks.load(task_id)
    except NotFound:
        return Blocker(task_id, "", "deleted", holds=False)
    except UnreadableFile:
        return Blocker(task_id, "", "its document cannot be read", holds=True)
    holds = found.status is not TaskState.CLOSED
    return Blocker(task_id, found.name, found.status.value, holds=holds)
