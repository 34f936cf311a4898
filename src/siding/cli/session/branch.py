"""Copy the live chain of a session into a new session; the old one stays as it is."""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.sessions.sessions import branch
from siding.cli.formats import add_format, print_json
from siding.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    session, title = branch(require_project(context.app), arguments.session)
    if arguments.format == "json":
        print_json(context.screen, {"id": session, "title": title})
        return 0
    context.screen.print(session)
    context.screen.note(f"branched as {title!r}")
    return 0
