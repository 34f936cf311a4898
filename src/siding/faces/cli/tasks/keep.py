"""Make a fork of a workflow a task of the board, with a workspace and a branch of its own.

The task starts from the state that the fork is in; what the fork and the task that it was made from
have changed belongs to it.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.telling.started import say_started
from siding.forks.keeping import keep
from siding.record.place.named_task import resolve
from siding.record.place.project import require_project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("fork", help="its id; `siding task list --children` shows them")
    parser.add_argument("name", nargs="?", default="", help="of the task (default: the fork's)")
    parser.add_argument("--switch", action="store_true", help="make it the active task")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    fork = resolve(project, arguments.fork)
    started = keep(project, fork, arguments.name, switch=arguments.switch)
    say_started(context.screen, started)
    if context.screen.quiet:
        context.screen.print(started.task.id)
    return 0
