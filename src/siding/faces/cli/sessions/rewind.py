"""Let a session go on from one of its messages.

MESSAGE is a number that `siding session show` prints, or the beginning of an id. Nothing is taken
out of the transcript: the messages after it become a branch that is no longer the live one.

A session in the home of an agent is imported first, and its file there stays as it is. `siding
session open` lets the agent go on from there, with a copy.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("message", metavar="MESSAGE")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.kept_session import kept_session, say_how_it_goes_on
    from siding.sessions.sessions import rewind

    project, named = kept_session(context, arguments.session)
    session, left = rewind(project, named, arguments.message)
    context.screen.note(f"session {session} goes on there; {counted(left, 'message')} left behind")
    say_how_it_goes_on(context, session)
    return 0
