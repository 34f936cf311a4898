"""Print the answer of a decision as one line of JSON; the newest one's when none is named."""

from argparse import ArgumentParser, Namespace

from siding.app.decisions.decisions import collected, find, output_or_raise
from siding.app.decisions.views import as_record
from siding.app.place.project import require_project
from siding.cli.formats import print_json, print_line
from siding.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="which one (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print the whole decision as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    decision = find(project, arguments.session)
    output = output_or_raise(decision)
    if arguments.json:
        print_json(context.screen, as_record(decision))
    else:
        print_line(context.screen, output)
    context.screen.out.flush()
    collected(project, decision)
    return 0
