"""List the sessions of this repository, in all its checkouts and tasks, newest first.

They are those that Claude Code, Codex and Gemini CLI keep in their own homes, and those that were
imported; nothing has to be set up. --all lists every project's. Secrets are masked in all but text
on a terminal.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.sessions.options import add_filters, add_no_redact, filter_of, is_redacted

if TYPE_CHECKING:
    from siding.sessions.finding import SessionFilter


def add_arguments(parser: ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument("--side", action="store_true", help="side conversations too")
    parser.add_argument("-n", "--limit", type=int, default=0, metavar="N", help="default: all")
    add_format(parser, "table", "json")
    add_no_redact(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.session_table import print_sessions
    from siding.sessions.finding import as_record, scope_of, sessions
    from siding.sessions.reading import masked

    app, screen = context.app, context.screen
    scope = scope_of(app, everything=arguments.all)
    wanted: SessionFilter = filter_of(arguments, app)._replace(hidden=arguments.side)
    listing = sessions(app, scope, wanted)
    shown = listing.rows[: arguments.limit] if arguments.limit > 0 else listing.rows
    if is_redacted(arguments, screen):
        shown = masked(app, scope, shown)
    if arguments.format == "json":
        print_json(screen, [as_record(row) for row in shown])
        return 0
    print_sessions(screen, listing, shown, wide=scope.roots is None)
    return 0
