"""Run a command in a task's workspace and record it as a step."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.asking.notifier import Notifier
from siding.ground.errors import NoActiveTask, NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Ending, StdinPlan
from siding.ground.process.streams import stdin_plan
from siding.guard.ruling import Asker
from siding.record.acts.skeleton import perform, working
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.tasks.task import Task, TaskState
from siding.record.workspaces.recovery import recover_cut_off
from siding.running.act import RunAct, run_unrecorded, what_runs
from siding.running.command import OnRunning
from siding.running.request import RunRequest, RunResult, Terminal

if TYPE_CHECKING:
    from siding.running.held import AskSeen
    from siding.tasks.start import Started

__all__ = [
    "Ending",
    "OnRunning",
    "RunRequest",
    "RunResult",
    "StdinPlan",
    "Terminal",
    "choose_stdin",
    "run",
]


class _Asking(NamedTuple):
    """How a person is asked; None if nobody can be."""

    rules: Asker | None
    seen: "AskSeen | None"


def run(
    project: Project,
    request: RunRequest,
    terminal: Terminal,
    *,
    on_started: Callable[["Started"], None] | None = None,
    on_running: OnRunning | None = None,
    ask: Asker | None = None,
    ask_seen: "AskSeen | None" = None,
) -> RunResult:
    """Run the command and return how it ended.

    Returns when the command has ended; after a timeout or Ctrl-C, when all that it started has. The
    snapshot before it and the intent are on disk before the process starts. Raises TaskBusy,
    NoWorkspace and UsageError; a command that fails raises nothing. `on_started` is called if a
    task had to be started first, `on_running` when the command runs; `ask` puts the policy's
    questions to a person, `ask_seen` shows traps to one.
    """
    recover_cut_off(project)
    task, started = _task_for(project, request)
    if started is not None and on_started is not None:
        on_started(started)
    asking = _Asking(ask, ask_seen)
    if terminal.requests is not None or (terminal.pty and terminal.out is not None):
        return _run_in(project, task, request, terminal, asking, on_running)
    with Notifier(project) as notifier:  # nobody looks at it: a person is told
        result = _run_in(project, task, request, terminal, asking, on_running)
    for hook in notifier.deliver():
        said = f"notify hook {hook.command!r} ended with {hook.exit_code}: {hook.output}"
        project.app.warn(said.rstrip(": \n"))
    return result


def _run_in(
    project: Project,
    task: Task,
    request: RunRequest,
    terminal: Terminal,
    asking: _Asking,
    on_running: OnRunning | None,
) -> RunResult:
    ask, seen = asking
    if request.record:
        act = RunAct(project, request, terminal, ask, on_running=on_running, ask_seen=seen)
        return perform(project, task.id, act)
    redaction = project.redaction.knowing(request.env)
    what = what_runs(redaction, request)
    with (
        holding_task(
            project, task.id, what, wait=request.wait, beside_runs=not request.wait
        ) as hold,
        working(project, task.id, hold, settle=lambda _recorder: [], redaction=redaction) as work,
    ):
        return run_unrecorded(
            work, hold, request, terminal, ask, on_running=on_running, ask_seen=seen
        )


def choose_stdin(explicit: bool | None) -> tuple[StdinPlan, bool]:
    """Return the command's standard input, and whether a pipe on ours is not passed on."""
    choice = stdin_plan(0, explicit=explicit)
    return choice.plan, choice.ignored_pipe


def _task_for(project: Project, request: RunRequest) -> tuple[Task, "Started | None"]:
    """Return the task to work in; start one if a new one is asked for, or none is active.

    A new one that has no name is named after the command.
    """
    if request.new is None:
        try:
            return _open_task(project, request.task), None
        except NoActiveTask:
            pass
    from siding.tasks.start import start_task

    started = start_task(project, name=request.new or _name_for(project, request), base=None)
    return started.task, started


def _open_task(project: Project, named: str | None) -> Task:
    makes = "`siding run --new {} -- COMMAND` makes one"
    try:
        task = select(project, named)
    except NotFound as error:
        from shlex import quote

        if named is None:  # a variable names it
            raise
        ways = [error.hint, makes.format(quote(named))]
        raise NotFound(error.message, hint="; ".join(filter(None, ways))) from None
    if task.status is TaskState.CLOSED:
        raise UsageError(
            f"task {task.name!r} is closed",
            hint=f"`siding task reopen {task.id}` opens it again; {makes.format('[NAME]')}",
        )
    return task


def _name_for(project: Project, request: RunRequest) -> str:
    from siding.record.tasks.names import name_after_command

    # Of an agent that is asked something, the longest word need not be that.
    argv = (request.argv[0], request.prompt) if request.prompt else request.argv
    return name_after_command(project.redaction.knowing(request.env).words(argv))
