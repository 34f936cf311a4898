"""Select the task that a command is about."""

from siding.ground.errors import NoActiveTask, NotFound, SidingError, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.tasks.task import Task, TaskState
from siding.record.tasks.terminals import Terminals, TerminalTask

BEFORE = "-"  # named instead of a task: the one that this terminal was about before
TASK_VARIABLE = "SIDING_TASK"
NOTHING_ACTIVE = "no task is active here"


class Current(NamedTuple):
    """The task that commands are about if none is named, and a sentence about what was passed over.

    `task` is None if there is no such task; `passed_over` is "" in most cases.
    """

    task: TaskId | None
    passed_over: str = ""


def select(project: Project, named: str | None) -> Task:
    """Return the named task, else the current one (see `current`).

    ``-`` names the one that this terminal was about before. Raises NotFound for an unknown name,
    UsageError for a name of several open tasks, and NoActiveTask if no task is named and none is
    current.
    """
    if named is not None:
        from siding.record.place.named_task import resolve

        return task_before(project) if named == BEFORE else resolve(project, named)
    found = current(project)
    if found.task is None:
        from siding.record.place.no_task import ways_on

        raise NoActiveTask(found.passed_over or NOTHING_ACTIVE, hint=ways_on(project))
    if found.passed_over:
        project.app.warn(found.passed_over)
    return project.tasks.load(found.task)


def current(project: Project) -> Current:
    """Return the task that commands are about if none is named.

    It is the task of the run that this command is part of; else the one that this terminal is bound
    to; else the one that `SIDING_TASK` names; else the one in whose workspace the working directory
    is; else the active task of the project. A terminal whose task is closed or gone does not go on
    in the active task, which another terminal may have chosen. Raises NotFound if `SIDING_TASK`
    names no task.
    """
    inside = task_of_run(project)
    if inside is not None:
        return Current(inside)
    bound, ended = task_here(project)
    if bound is not None:
        return Current(bound, _elsewhere(project, bound))
    named = project.app.env.get(TASK_VARIABLE)
    found = _from_variable(project, named) if named else standing_in(project)
    if found is None and not ended:
        found = project.active_task_id()
    return Current(found, ended)


def current_task_id(project: Project) -> TaskId | None:
    """Return the id of the current task; None if there is none, or `SIDING_TASK` names none."""
    try:
        return current(project).task
    except (NotFound, UsageError):
        return None


def task_of_run(project: Project) -> TaskId | None:
    """Return the task of the run that this command is part of, if the run lives; else None."""
    task_id = project.app.env.get("SIDING_TASK_ID", "")
    run_id = project.app.env.get("SIDING_RUN_ID", "")
    if not task_id or not run_id or "/" in task_id or task_id.startswith("."):
        return None
    from siding.record.runs.run import is_run_id
    from siding.record.runs.store import Runs

    if not is_run_id(run_id):
        return None
    lives = Runs(project.task_layout(TaskId(task_id))).is_there(run_id)
    return TaskId(task_id) if lives else None


def bound_here(project: Project) -> TerminalTask | None:
    """Return what this terminal is bound to; None if it is not, or there is none."""
    leader = project.app.session
    try:
        return None if leader is None else Terminals(project.layout).of(leader)
    except SidingError as error:
        project.app.warn(f"which task this terminal is about is not known: {error.message}")
        return None


def task_before(project: Project) -> Task:
    """Return the task that this terminal was about before its present one; UsageError for none."""
    bound = bound_here(project)
    if bound is None or not bound.before:
        raise UsageError(
            "this terminal was about no other task before",
            hint="`siding switch TASK` names one; `siding task list` shows them",
        )
    return project.tasks.load(TaskId(bound.before))


def task_here(project: Project) -> tuple[TaskId | None, str]:
    """Return the task of this terminal; if it is closed or gone, None and a sentence about that."""
    bound = bound_here(project)
    if bound is None:
        return None, ""
    try:
        task = project.tasks.load(bound.task)
    except NotFound:
        return None, f"task {bound.task}, which this terminal was about, is gone"
    if task.status is TaskState.CLOSED:
        return None, f"task {task.name!r}, which this terminal was about, is closed"
    return bound.task, ""


def _elsewhere(project: Project, bound: TaskId) -> str:
    """Return a sentence if the working directory is the workspace of another task; else ""."""
    around = standing_in(project)
    if around is None or around == bound:
        return ""
    return (
        f"this terminal is about task {_name(project, bound)}, and you stand in the workspace of "
        f"{_name(project, around)}: `siding switch {around}` changes to it, `-t {around}` once"
    )


def _name(project: Project, task_id: TaskId) -> str:
    try:
        return repr(project.tasks.load(task_id).name)
    except SidingError:
        return task_id


def _from_variable(project: Project, named: str) -> TaskId:
    from siding.record.place.named_task import resolve

    try:
        return resolve(project, named).id
    except NotFound as error:
        raise NotFound(
            f"{TASK_VARIABLE} names {named!r}, and there is no such task in this project",
            hint=error.hint,
        ) from None


def standing_in(project: Project) -> TaskId | None:
    """Return the task in whose workspace the working directory is; None if it is in none."""
    return project.task_around(project.app.cwd, linked=project.paths.linked)
