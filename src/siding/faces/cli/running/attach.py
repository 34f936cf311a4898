"""Show a run in this terminal and type into it; leave it with Ctrl-] d, and it goes on.

RUN is a run's id (r7) or name; without one, the only run that lives in the task. Any number of
people may be attached at once; the run's terminal has the size of the window of whoever acted last.
A run without a terminal is only shown. When the run ends, so does this, with its exit status.

  siding attach
  siding attach r7 --read-only
  siding attach web --detach-key ctrl-a
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import changes_with_turns, size, task_name, task_step

if TYPE_CHECKING:
    from siding.running.attach import Watched, Watching


DETACH_KEY = "ctrl-]"
_LOST = 1


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", metavar="RUN", help="default: the only one that lives")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--detach-key",
        metavar="KEY",
        default=DETACH_KEY,
        help="with d behind it, leaves the run (default: ctrl-])",
    )
    parser.add_argument("--read-only", action="store_true", help="only look; keys go nowhere")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import say_left
    from siding.record.place.project import require_project
    from siding.running.attach import Left, attach, control_key, watch

    prefix = control_key(arguments.detach_key)
    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    watching = attach(
        project, arguments.task, arguments.run, prefix=prefix, read_only=arguments.read_only
    )
    _say_first(context, watching, arguments.detach_key, read_only=arguments.read_only)
    watched = watch(project, watching)
    exit_code = _say_last(context, watching, watched)
    if watched.left is not Left.DETACHED:
        say_left(context.screen, project, watching.task, watching.run.id)
    return exit_code


def _say_first(context: Context, watching: Watching, key: str, *, read_only: bool) -> None:
    what = shorten(inert(watching.run.title), 60)
    name = f"{task_name(watching.task.name)} · {watching.run.id} ({what})"
    context.screen.note(f"{name} · {key} d leaves it running", "dim")
    if not watching.has_terminal:
        context.screen.note("it has no terminal: what is typed goes nowhere", "dim")
    elif read_only:
        context.screen.note("only looking: what is typed goes nowhere", "dim")


def _say_last(context: Context, watching: Watching, watched: Watched) -> int:
    from siding.running.attach import Left

    screen, run = context.screen, watching.run
    if watched.skipped:
        screen.note(f"{size(watched.skipped)} were not shown: this terminal was too slow", "yellow")
    if watched.left is Left.DETACHED:
        screen.note(f"{task_name(watching.task.name)} · {run.id} goes on · siding attach {run.id}")
        return 0
    if watched.exit_code is None:
        screen.warn(f"the host of {run.id} is gone; the next command in the task records the run")
        return _LOST
    step = watched.step
    if step is None:
        screen.note(f"{task_name(watching.task.name)} · {run.id} · exit {watched.exit_code}")
    else:
        change = changes_with_turns(step)
        how = f"{step.status} · exit {watched.exit_code} · {change}"
        screen.note(f"{task_step(watching.task.name, step.id)} · {how}")
    return watched.exit_code
