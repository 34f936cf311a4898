"""The task that a person names."""

from siding.ground.errors import NotFound, UsageError
from siding.ground.ids import TaskId, is_fork
from siding.record.place.project import Project
from siding.record.tasks.matching import Known, meant
from siding.record.tasks.registry import MOVED_TO
from siding.record.tasks.task import Task, TaskState

_MOST_LISTED = 8


class SeveralTasks(UsageError):
    """What was named could be any of several tasks."""


def resolve(project: Project, named: str) -> Task:
    """Return the task that a person means: by its id, its name, or any part that fits no other.

    See `meant` for what counts first. If several tasks fit, closed ones do not count; if there are
    still several, a person at a terminal chooses. Raises NotFound, SeveralTasks or UsageError.
    """
    if is_fork(named) or named in project.tasks.ids():
        return project.tasks.load(TaskId(named))
    tasks = list(project.tasks.readable())
    entries = project.registry.all()
    names = {each.task_id: each.name for each in entries if MOVED_TO not in each.rest}
    found = meant(named, [Known(task, names.get(task.id, "")) for task in tasks])
    opened = [task for task in found if task.status is not TaskState.CLOSED] or found
    if not opened:
        raise NotFound(f"there is no task {named!r}", hint=_closest(named, tasks))
    return opened[0] if len(opened) == 1 else _chosen(project, named, opened)


def _chosen(project: Project, named: str, tasks: list[Task]) -> Task:
    """Let the person choose; raise SeveralTasks where nobody can be asked."""
    tasks = sorted(tasks, key=lambda task: task.updated_at, reverse=True)
    if project.app.choose is not None:
        chosen = project.app.choose(named, [f"{task.name}  ({task.id})" for task in tasks])
        if chosen is not None:
            return tasks[chosen]
    listed = ", ".join(f"{task.name!r} ({task.id})" for task in tasks[:_MOST_LISTED])
    more = f" and {len(tasks) - _MOST_LISTED} more" if len(tasks) > _MOST_LISTED else ""
    raise SeveralTasks(
        f"{named!r} could be any of several tasks: {listed}{more}",
        hint="give more of the name, or the id",
    )


def require_of_board(task: Task, act: str) -> Task:
    """Return the task; raise UsageError if it is a fork. `act` is what is refused, as a command."""
    if is_fork(task.id):
        raise UsageError(
            f"{task.id} is a fork: {act} is for tasks of the board",
            hint=f"`siding task bring-back {task.id}` brings its change onto the task that it was "
            f"made from, `siding task keep {task.id}` makes it a task of the board, `siding task "
            f"drop {task.id}` gives its workspace back",
        )
    return task


def _closest(named: str, tasks: list[Task]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(named, [task.name for task in tasks], n=1)
    return f"did you mean {close[0]!r}?" if close else "`siding task list --all` shows every task"
