"""Run a command in the background: its host goes on when the command line has ended."""

import os
from collections.abc import Callable, Sequence

from siding.agents.table import BY_PROGRAM, talks
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StdinPlan
from siding.ground.process.detach import Background, Begun, in_background
from siding.record.place.wiring import App
from siding.record.runs.run import Run
from siding.record.tasks.task import Task
from siding.running.request import Terminal

_PIPES = Terminal(stdin=StdinPlan.NULL, pty=False, out=None, err=None)
_TERMINAL = Terminal(stdin=StdinPlan.VIEWERS, pty=True, out=None, err=None)


def terminal_for(argv: Sequence[str], *, wanted: bool | None, at_terminal: bool) -> Terminal:
    """Return what a command in the background gets: a terminal of its own, or pipes and no input.

    If nothing is `wanted`, an agent that talks with a person gets a terminal when a person starts
    it, that is, at a terminal.
    """
    if wanted is None:
        wanted = at_terminal and talks(argv)
    return _TERMINAL if wanted else _PIPES


def may_talk(argv: Sequence[str]) -> bool:
    """Tell whether a command may be a program that waits for what a person types.

    Of an agent it is known; nobody knows what other programs do.
    """
    return os.path.basename(argv[0]) not in BY_PROGRAM


class Detached(NamedTuple):
    """A run that goes on in the background."""

    run_id: str
    task_id: str
    task_name: str


def detached(app: App, host: Callable[[App, Callable[[Task, Run], None]], int]) -> Detached | int:
    """Call `host` in a process in the background; return when its command runs.

    `host` gets the application of that process and a function that it calls when the command runs.
    Until then it has the terminal. If it ends before that, its exit status is returned.
    """

    def work(background: Background) -> int:
        def on_running(task: Task, run: Run) -> None:
            background.begin(f"{run.id} {task.id} {task.name}")

        return host(app._replace(pid=background.pid), on_running)

    begun = in_background(work)
    if not isinstance(begun, Begun):
        return begun
    run_id, task_id, task_name = begun.said.split(" ", 2)
    return Detached(run_id=run_id, task_id=task_id, task_name=task_name)
