"""Do again what the newest undo took back. A new run, or a change by hand, ends the line."""

from argparse import ArgumentParser, Namespace

from siding.app.project import require_project
from siding.app.undo import Request, redo
from siding.cli.globals import Context
from siding.cli.restored import with_consent
from siding.cli.undo import tell


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: the active one)")
    parser.add_argument("--force", action="store_true", help="move what is in the way aside")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the step as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    request = Request(task=arguments.task, wait=arguments.wait)
    done = with_consent(
        context.screen,
        lambda force: redo(project, request._replace(force=force)),
        force=arguments.force,
    )
    tell(context, done, as_json=arguments.json)
    return 0
