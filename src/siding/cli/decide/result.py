"""Print the answer of a decision as one line of JSON; the newest one's when none is named."""

from argparse import ArgumentParser, Namespace

from siding.app.decisions.lookup import find
from siding.app.place.project import require_project
from siding.cli.globals import Context
from siding.cli.telling.answers import print_answer


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="which one (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print the whole decision as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    decision = find(project, arguments.session)
    print_answer(context.screen, project, decision, as_json=arguments.json)
    return 0
