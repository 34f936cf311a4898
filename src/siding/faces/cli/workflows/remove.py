"""Put runs of workflows that are over, or were interrupted, into the project's trash.

A run that lives, or whose question waits for an answer, is refused. `siding gc` frees the trash.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.ground.errors import SidingError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help="an id, the beginning of one, last")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.workflows.acts.retention import remove_run

    project = require_project(context.app)
    failed = 0
    for named in arguments.runs:
        try:
            place = remove_run(project, named)
        except SidingError as error:
            hint = f"; {inert(error.hint)}" if error.hint else ""
            context.screen.warn(f"{inert(error.message)}{hint}")
            failed += 1
        else:
            context.screen.note(f"the run is in the trash: {inert(place)}")
    return 1 if failed else 0
