"""Take a question back; whoever waits for its answer is told."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", help="which one")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; it is recorded")


def run(arguments: Namespace, context: Context) -> int:
    from siding.asking.answer import cancel
    from siding.asking.decisions.record import Via
    from siding.asking.lookup import find
    from siding.record.place.project import require_project

    project = require_project(context.app)
    decision = find(project, arguments.session)
    cancel(project, decision.session_id, reason=arguments.reason, via=Via.TERMINAL)
    context.screen.note(f"cancelled {decision.session_id}")
    return 0
