"""Record the workspace as it stands, as a step without a command.

With --run it is a turn of this run, which has to live, and nothing is recorded if nothing changed:
for the hooks of agents, as `siding checkpoint --run "$SIDING_RUN_ID"`. `siding run` does so by
itself with --checkpoint-every and --checkpoint-quiet.

  siding checkpoint -m 'before the rewrite'
"""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import changes_of, task_name, task_step
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.broker.inside import Inside
    from siding.record.place.project import Project
    from siding.running.checkpoint import Step, Task


MOMENTS = ("asked", "quiet", "timer")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-m", "--message", default="", help="why")
    parser.add_argument("--run", metavar="RUN", help="as a turn of this run, if anything changed")
    parser.add_argument("--moment", default="asked", choices=MOMENTS, help=SUPPRESS)
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the step as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.broker.inside import broker_of
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.running.checkpoint import checkpoint

    inside = broker_of(context.app) if arguments.run is arguments.task is None else None
    if inside is not None:
        return _checkpoint_inside(context.screen, inside, arguments.message, as_json=arguments.json)
    project = require_project(context.app)
    if arguments.run is not None:
        return _turn(project, arguments, context)
    task = select(project, arguments.task)
    message = arguments.message or "checkpoint"
    step = checkpoint(project, task.id, message, wait=arguments.wait)
    _say(context, task, step)
    if arguments.json:
        print_json(context.screen, step.line)
    return 0


def _turn(project: Project, arguments: Namespace, context: Context) -> int:
    from siding.running.checkpoint import TurnWords, record_turn

    words = TurnWords(arguments.message)
    task, step = record_turn(project, arguments.task, arguments.run, arguments.moment, words)
    if step is None:
        context.screen.note(f"{task_name(task.name)} · {arguments.run} · nothing changed")
    else:
        _say(context, task, step)
    if arguments.json:
        print_json(context.screen, None if step is None else step.line)
    return 0


def _say(context: Context, task: Task, step: Step) -> None:
    change = changes_of(step)
    context.screen.note(f"{task_step(task.name, step.id)} · {step.message} · {change}", "green")


def _checkpoint_inside(screen: Screen, inside: Inside, message: str, *, as_json: bool) -> int:
    """Record the workspace as a turn of the run."""
    done = inside.ask("checkpoint", message=message or None)
    name = inert(done["task"])
    if done["step"] is None:
        screen.note(f"{task_name(name)} · nothing changed")
    else:
        told = f"{task_step(name, done['step'])} · {inert(done['message'])}"
        screen.note(f"{told} · {counted(done['files'], 'file')}", "green")
    if as_json:
        print_json(screen, done["line"])
    return 0
