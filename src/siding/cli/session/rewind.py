"""Let a session go on from one of its messages.

MESSAGE is a number that `siding session show` prints, or the beginning of an id. Nothing is taken
out of the transcript: the messages after it become a branch that is no longer the live one.
"""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.sessions.sessions import rewind
from siding.cli.globals import Context
from siding.cli.screen.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION")
    parser.add_argument("message", metavar="MESSAGE")


def run(arguments: Namespace, context: Context) -> int:
    session, left = rewind(require_project(context.app), arguments.session, arguments.message)
    context.screen.note(f"session {session} goes on there; {counted(left, 'message')} left behind")
    return 0
