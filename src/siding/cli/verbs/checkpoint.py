"""Record the workspace as it stands, as a step without a command."""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.place.selection import select
from siding.app.running.checkpoint import checkpoint
from siding.cli.formats import print_json
from siding.cli.globals import Context
from siding.cli.screen.words import changes, task_step


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-m", "--message", default="checkpoint", help="why")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: the active one)")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the step as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    task = select(project, arguments.task)
    step = checkpoint(project, task.id, arguments.message, wait=arguments.wait)
    change = changes(step.files, step.additions, step.deletions, step.modes)
    context.screen.note(f"{task_step(task.name, step.id)} · {step.message} · {change}", "green")
    if arguments.json:
        print_json(context.screen, step.line)
    return 0
