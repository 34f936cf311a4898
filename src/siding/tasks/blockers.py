"""What a task waits for: the tasks in its `blocked_by` that are not closed."""

from collections.abc import Iterable

from siding.ground.errors import NotFound, SidingError, UnreadableFile, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.tasks.task import Task, TaskState


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
