"""Go on with a session, in the client it is of and in the directory in which it was held.

  siding session                    choose one of this repository: type to filter, Enter goes on
  siding session open 4f1c          go on with this one
  siding session open 4f1c --print  only print the command

A session of an open task goes on in `siding run`, in the task's workspace, and is recorded. Any
other one goes on by itself: `claude --resume`, `codex resume`, `gemini --resume`. One of Siding's
own agent goes on in `siding agent`; to go on elsewhere: `siding session export --to claude`.

One that the client does not have, because it was branched, rewound or compacted here, is first
written into a new file of the client's; no file of its own is changed.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.sessions.options import add_filters, filter_of

if TYPE_CHECKING:
    from siding.sessions.finding import FoundSession


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    parser.add_argument("--print", dest="shown", action="store_true", help="print the command")
    add_filters(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.sessions.finding import find_session, scope_of
    from siding.sessions.opening import go_on, opening_of

    app, screen = context.app, context.screen
    scope = scope_of(app, everything=arguments.all)
    if arguments.session is not None:
        found = find_session(app, scope, arguments.session)
    elif sys.stdin.isatty() and screen.out.isatty():
        picked = _picked(arguments, context)
        if picked is None:
            return 0
        found = picked
    else:
        _list(arguments, context)
        return 0
    opening = opening_of(app, scope, found)
    if opening.written is not None:
        screen.note(f"written for {found.client}, as it is here: {inert(str(opening.written))}")
    if not arguments.shown:
        where = "in siding run" if opening.run else "not recorded"
        where += f", task {inert(opening.task)}" if opening.task else ""
        screen.note(f"{inert(opening.line)} ({where})")
        screen.out.flush()
        go_on(app, opening)
    screen.print(opening.line)
    return 0


def _picked(arguments: Namespace, context: Context) -> FoundSession | None:
    from siding.faces.cli.screen.filtering import pick_by_filter
    from siding.faces.cli.telling.session_table import aligned, cells_of, print_sessions
    from siding.sessions.finding import scope_of, sessions

    app, screen = context.app, context.screen
    scope = scope_of(app, everything=arguments.all)
    listing = sessions(app, scope, filter_of(arguments, app))
    wide = scope.roots is None
    if not listing.rows:
        print_sessions(screen, listing, [], wide=wide)
        return None
    cells = [cells_of(row, listing.names[row.id], wide=wide) for row in listing.rows]
    lines = aligned(cells)
    chosen = pick_by_filter(screen, lines, "sessions: type to filter, Enter goes on, Esc leaves")
    return None if chosen is None else listing.rows[chosen]


def _list(arguments: Namespace, context: Context) -> None:
    from siding.faces.cli.telling.session_table import print_sessions
    from siding.sessions.finding import scope_of, sessions
    from siding.sessions.reading import masked

    app, screen = context.app, context.screen
    scope = scope_of(app, everything=arguments.all)
    listing = sessions(app, scope, filter_of(arguments, app))
    shown = masked(app, scope, listing.rows) if not screen.out.isatty() else listing.rows
    print_sessions(screen, listing, shown, wide=scope.roots is None)
