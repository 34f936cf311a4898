"""Begin a workflow: write a script to go on from into `.siding/workflows` of the repository."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.record.place.project import ensure_project
from siding.workflows.acts.scripts import new_workflow


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="of the workflow")
    parser.add_argument("--home", action="store_true", help="for all projects of yours")
    parser.add_argument("--from", dest="from_", metavar="WORKFLOW", help="a copy of this one")


def run(arguments: Namespace, context: Context) -> int:
    project, _made = ensure_project(context.app)
    path = new_workflow(project, arguments.name, home=arguments.home, like=arguments.from_)
    context.screen.print(str(path))
    context.screen.note(f"edit it, then `siding workflow run {inert(arguments.name)}`")
    return 0
