"""Write a session as the transcript of Claude Code, Codex or Gemini CLI, into a directory.

Secrets that were said or printed in it are masked: [redacted:kind]. With --no-redact, what came
from that program comes out byte for byte: for yourself, to go on there.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.faces.cli.globals import Context
from siding.sessions.exporting import give_redacted
from siding.sessions.finding import scope_of
from siding.sessions.reading import readable
from siding.sessions.upkeep import FORMS, OUR_FORM, give


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    parser.add_argument(
        "--to",
        dest="form",
        choices=FORMS,
        default=OUR_FORM,
        help=f"default: {OUR_FORM}",
    )
    parser.add_argument("-o", "--output", metavar="DIRECTORY", default=".", help="default: here")
    parser.add_argument("--no-redact", action="store_true", help="leave secrets as they are")


def run(arguments: Namespace, context: Context) -> int:
    app = context.app
    _, place, session = readable(app, scope_of(app), arguments.session)
    target = context.app.cwd / Path(arguments.output)
    write = give if arguments.no_redact else give_redacted
    for path in write(place, session, arguments.form, target):
        context.screen.print(str(path))
    return 0
