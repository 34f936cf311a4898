"""Write a page for each session of this repository, and an index page over all, into a directory.

The pages need nothing else and load nothing. Those of subagents are below their session. Secrets
are masked, and images left out: --no-redact leaves both. The filters are those of `session list`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import counted
from siding.faces.cli.sessions.options import add_filters, add_no_redact, filter_of, redaction_note

if TYPE_CHECKING:
    from siding.sessions.finding import FoundSession


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="DIRECTORY", required=True, help="is made if it is not there"
    )
    add_filters(parser)
    add_no_redact(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.sessions.finding import scope_of, sessions
    from siding.sessions.pages import write_pages
    from siding.sessions.reading import masked

    app, screen = context.app, context.screen
    scope = scope_of(app, everything=arguments.all)
    rows = sessions(app, scope, filter_of(arguments, app)).rows
    redacted = not arguments.no_redact
    directory = app.cwd / arguments.output
    skipped: list[str] = []

    def skip(row: FoundSession, why: str) -> None:
        skipped.append(row.id)
        screen.warn(f"session {inert(row.id)} is left out: {inert(why)}")

    shown = masked(app, scope, rows) if redacted else rows
    count = write_pages(app, scope, shown, directory, redacted=redacted, skip=skip)
    index = inert(str(directory / "index.html"))
    screen.note(f"{counted(count, 'session')} in {index}, {redaction_note(arguments)}")
    return 1 if skipped else 0
