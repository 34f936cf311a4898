"""Select the task that a command is about."""

from siding.app.place.project import Project
from siding.errors import NoActiveTask, NotFound, UsageError
from siding.ids import TaskId
from siding.tasks.states import TaskState
from siding.tasks.task import Task


def select(project: Project, named: str | None) -> Task:
    """Return the named task, else the task of the working directory, else the active task.

    Raises NotFound for an unknown name, UsageError for a name of several open tasks, and
    NoActiveTask if no task is named and none is active.
    """
    if named is not None:
        return resolve(project, named)
    task_id = standing_in(project) or project.active_task_id()
    if task_id is None:
        raise NoActiveTask(
            "no task is active here",
            hint="`siding task start NAME` makes one; `siding task list` shows what there is",
        )
    return project.tasks.load(task_id)


def standing_in(project: Project) -> TaskId | None:
    """Return the task in whose workspace the working directory is; None if it is in none."""
    return project.task_around(project.app.cwd, linked=project.paths.linked)


def resolve(project: Project, named: str) -> Task:
    """Return the task with this id, name or unique beginning of an id.

    If several tasks match, closed ones do not count. Raises NotFound or UsageError.
    """
    if named in project.tasks.ids():
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


def _closest(named: str, tasks: list[Task]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(named, [task.name for task in tasks], n=1)
    return f"did you mean {close[0]!r}?" if close else "`siding task list --all` shows every task"
