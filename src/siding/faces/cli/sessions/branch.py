"""Copy the live chain of a session into a new session; the old one stays as it is.

One in the home of an agent is imported first. `siding session open` goes on with the new one.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.kept_session import kept_session, say_how_it_goes_on
    from siding.sessions.sessions import branch

    session, title = branch(*kept_session(context, arguments.session))
    if arguments.format == "json":
        print_json(context.screen, {"id": session, "title": title})
        return 0
    context.screen.print(session)
    context.screen.note(f"branched as {title!r}")
    say_how_it_goes_on(context, session)
    return 0
