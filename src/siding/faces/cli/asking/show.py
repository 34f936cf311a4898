"""Show a decision: its questions, what speaks for and against each option, and the answers."""

from argparse import ArgumentParser, Namespace

from siding.asking.lookup import find
from siding.asking.question import page_of
from siding.asking.views import as_record
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.telling.decisions import print_head, print_item
from siding.record.place.project import require_project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="which one (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    decision = find(project, arguments.session)
    if arguments.json:
        print_json(context.screen, as_record(decision))
        return 0
    print_head(context.screen, decision)
    for item in decision.items:
        print_item(context.screen, project, decision, item)
    if decision.state == "open":
        page = page_of(project, decision)
        if page is not None:
            context.screen.note(f"to answer: {page}")
        context.screen.note(f"to answer: siding decide answer {decision.session_id}")
    return 0
