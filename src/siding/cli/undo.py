"""Take the newest rollback, apply, closing or removal back. Repeat to go further back.

Nothing is lost by it: `siding redo` does it again, and every state in between is a step in the log.
A run is no such act: `siding rollback --step N` goes back to before one.
"""

from argparse import ArgumentParser, Namespace

from siding.app.project import require_project
from siding.app.undo import Request, Undone, undo
from siding.cli.formats import print_json
from siding.cli.globals import Context
from siding.cli.restored import tell_restored, with_consent
from siding.cli.task_reopen import tell_reopened
from siding.cli.words import task_name, task_step


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-t",
        "--task",
        metavar="TASK",
        help="the task (default: the active one, else the one that was closed last)",
    )
    parser.add_argument("--force", action="store_true", help="even if later changes go with it")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the step as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    request = Request(task=arguments.task, wait=arguments.wait)
    done = with_consent(
        context.screen,
        lambda force: undo(project, request._replace(force=force)),
        force=arguments.force,
    )
    tell(context, done, as_json=arguments.json)
    return 0


def tell(context: Context, done: Undone, *, as_json: bool) -> None:
    """Say what an undo or redo did."""
    screen = context.screen
    for first in done.settled:
        screen.note(f"{task_step(done.task.name, first.id)} · {first.title} (recorded first)")
    if done.restored is not None:
        tell_restored(screen, done.task.name, done.restored, done.what)
    elif done.reopened is not None:
        tell_reopened(screen, done.reopened)
    else:
        made = done.applied
        begin = task_name(done.task.name) if made is None else task_step(done.task.name, made.id)
        screen.note(f"{begin} · {done.what}", "green")
    if as_json:
        step = done.restored.step if done.restored is not None else done.applied
        print_json(screen, None if step is None else step.line)
