"""The task that a person names, by its id, its name or the beginning of its id."""

from siding.ground.errors import NotFound, UsageError
from siding.ground.ids import TaskId, is_fork
from siding.record.place.project import Project
from siding.record.tasks.task import Task, TaskState


def resolve(project: Project, named: str) -> Task:
    """Return the task with this id, name or unique beginning of an id.

    If several tasks match, closed ones do not count. Raises NotFound or UsageError.
    """
    if is_fork(named) or named in project.tasks.ids():
        return project.tasks.load(TaskId(named))
    tasks = list(project.tasks.readable())
    found = [task for task in tasks if task.name == named] or [
        task for task in tasks if task.id.startswith(named) and named
    ]
    opened = [task for task in found if task.status is not TaskState.CLOSED] or found
    if not opened:
        raise NotFound(f"there is no task {named!r}", hint=_closest(named, tasks))
    if len(opened) > 1:
        ids = ", ".join(sorted(task.id for task in opened))
        raise UsageError(f"{named!r} could be any of several tasks: {ids}", hint="use the id")
    return opened[0]


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
