"""Print the answer of a decision as one line of JSON; the newest one's when none is named."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="which one (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print the whole decision as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.asking.lookup import find
    from siding.broker.inside import broker_of_sandbox
    from siding.faces.cli.telling.answers import print_answer
    from siding.faces.cli.telling.inside import print_told
    from siding.record.place.project import require_project

    inside = None if arguments.session is None else broker_of_sandbox(context.app)
    if inside is not None:
        answer = inside.ask("ask", session=arguments.session, timeout_s=0)
        print_told(context.screen, answer, as_json=arguments.json)
        return 0
    project = require_project(context.app)
    decision = find(project, arguments.session)
    print_answer(context.screen, project, decision, as_json=arguments.json)
    return 0
