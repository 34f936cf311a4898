"""The verbs that look for sessions: list, open, search, pages, and what is damaged."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen, columns_of, inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, local_time
from siding.faces.cli.sessions.options import (
    SESSION,
    add_filters,
    add_no_redact,
    filter_of,
    is_redacted,
    redaction_note,
)
from siding.faces.cli.verb import Verb
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.sessions.lookup import FoundSession, SessionFilter, SessionListing


_HEADER = ("ID", "CLIENT", "LAST", "MESSAGES", "TASK", "TITLE")


def print_sessions(
    screen: Screen, listing: SessionListing, shown: list[FoundSession], *, wide: bool
) -> None:
    """Print the sessions; `wide` adds the directory each was held in."""
    if not shown:
        screen.note("no session here; `siding session list --all` shows those of every project")
        return
    header = (*_HEADER[:-1], "PROJECT", _HEADER[-1]) if wide else _HEADER
    print_table(screen, header, [cells_of(row, listing.names[row.id], wide=wide) for row in shown])


def cells_of(row: FoundSession, name: str, *, wide: bool) -> tuple[str, ...]:
    """Return what a list says of one session."""
    from os.path import basename

    return (
        name,
        row.client,
        ago(datetime.fromtimestamp(row.changed_at, UTC).isoformat()),
        "-" if row.messages is None else str(row.messages),
        row.task or "-",
        *((basename(row.cwd) or "-",) if wide else ()),
        shorten(row.name, 70),
    )


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a line for each row, with the columns aligned."""
    safe = [tuple(map(inert, row)) for row in rows]
    widths = [max(map(columns_of, column)) for column in zip(*safe, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in safe
    ]


def _list_options(parser: ArgumentParser) -> None:
    add_filters(parser)
    parser.add_argument("--side", action="store_true", help="side conversations too")
    parser.add_argument("-n", "--limit", type=int, default=0, metavar="N", help="default: all")
    add_format(parser, "table", "json")
    add_no_redact(parser)


def _list(arguments: Namespace, context: Context) -> int:
    from siding.sessions.lookup import as_record, scope_of, sessions
    from siding.sessions.reader import masked

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


LIST = Verb(
    """\
List the sessions of this repository, in all its checkouts and tasks, newest first.

They are those that Claude Code, Codex and Gemini CLI keep in their own homes, and those that were
imported; nothing has to be set up. --all lists every project's. Secrets are masked in all but text
on a terminal.
""",
    _list_options,
    _list,
)


def _open_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help=SESSION)
    parser.add_argument("--print", dest="shown", action="store_true", help="print the command")
    add_filters(parser)


def _open(arguments: Namespace, context: Context) -> int:
    from siding.sessions.client import go_on, opening_of
    from siding.sessions.lookup import find_session, scope_of

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
        _print_list(arguments, context)
        return 0
    opening = opening_of(app, scope, found, write=not arguments.shown)
    if opening.is_unwritten:
        screen.note(f"{found.client} does not have it as it is here; this writes it there first")
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


OPEN = Verb(
    """\
Go on with a session, in the client it is of and in the directory in which it was held.

  siding session                    choose one of this repository: type to filter, Enter goes on
  siding session open 4f1c          go on with this one
  siding session open 4f1c --print  only print the command

A session of an open task goes on in `siding run`, in the task's workspace, and is recorded. Any
other one goes on by itself: `claude --resume`, `codex resume`, `gemini --resume`. One of Siding's
own agent goes on in `siding agent`; to go on elsewhere: `siding session export --to claude`.

One that the client does not have, because it was branched, rewound or compacted here, is first
written into a new file of the client's; no file of its own is changed.
""",
    _open_options,
    _open,
)


def _picked(arguments: Namespace, context: Context) -> FoundSession | None:
    from siding.faces.cli.screen.filter import pick_by_filter
    from siding.sessions.lookup import scope_of, sessions

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


def _print_list(arguments: Namespace, context: Context) -> None:
    from siding.sessions.lookup import scope_of, sessions
    from siding.sessions.reader import masked

    app, screen = context.app, context.screen
    scope = scope_of(app, everything=arguments.all)
    listing = sessions(app, scope, filter_of(arguments, app))
    shown = masked(app, scope, listing.rows) if not screen.out.isatty() else listing.rows
    print_sessions(screen, listing, shown, wide=scope.roots is None)


def _search_options(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD", help="each must occur in a message")
    parser.add_argument("-s", "--session", metavar="SESSION", help="only in this one")
    add_filters(parser)
    parser.add_argument(
        "-n", "--limit", type=int, default=20, metavar="N", help="default: 20; 0 shows all"
    )
    add_format(parser, "text", "json")
    add_no_redact(parser)


def _search(arguments: Namespace, context: Context) -> int:
    from siding.sessions.lookup import scope_of
    from siding.sessions.search import search

    screen = context.screen
    words = " ".join(f'"{word}"' if " " in word else word for word in arguments.words)
    app = context.app
    hits, names = search(
        app,
        scope_of(app, everything=arguments.all),
        words,
        filter_of(arguments, app),
        limit=arguments.limit or sys.maxsize,
        session=arguments.session,
        redacted=is_redacted(arguments, screen),
    )
    if arguments.format == "json":
        print_json(screen, [hit._asdict() for hit in hits])
        return 0 if hits else 1
    for hit in hits:
        side = f" agent {hit.agent_id}" if hit.agent_id else ""
        head = f"{names[hit.session_id]}{side} {hit.kind} {local_time(hit.timestamp)}"
        screen.print(screen.style(inert(head), "dim"))
        screen.print(f"  {inert(hit.snippet)}")
    if not hits:
        screen.note("no message has all these words")
    return 0 if hits else 1


SEARCH = Verb(
    """\
Search the sessions of this repository for words: those found, and those imported.

Every word must occur in a message; "quoted words" as they stand. The index is made and kept up to
date on the way; it can be deleted at any time. Secrets are masked in all but text on a terminal.
""",
    _search_options,
    _search,
)


def _pages_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="DIRECTORY", required=True, help="is made if it is not there"
    )
    add_filters(parser)
    add_no_redact(parser)


def _pages(arguments: Namespace, context: Context) -> int:
    from siding.sessions.lookup import scope_of, sessions
    from siding.sessions.pages import write_pages
    from siding.sessions.reader import masked

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


PAGES = Verb(
    """\
Write a page for each session of this repository, and an index page over all, into a directory.

The pages need nothing else and load nothing. Those of subagents are below their session. Secrets
are masked, and images left out: --no-redact leaves both. The filters are those of `session list`.
""",
    _pages_options,
    _pages,
)


def _doctor_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-a", "--all", action="store_true", help="those of every project and directory"
    )
    parser.add_argument("--mend", action="store_true", help="make all indexes anew")
    add_format(parser, "text", "json")


def _doctor(arguments: Namespace, context: Context) -> int:
    from siding.sessions.doctor import examine
    from siding.sessions.lookup import scope_of

    scope = scope_of(context.app, everything=arguments.all)
    count, findings = examine(context.app, scope, mend=arguments.mend)
    if arguments.format == "json":
        print_json(
            context.screen, [{**each._asdict(), "path": str(each.path)} for each in findings]
        )
        return 1 if findings else 0
    for each in findings:
        where = f":{each.number}" if each.number else ""
        context.screen.print(inert(f"{each.path}{where}: {each.problem}"))
    what = "nothing wrong" if not findings else counted(len(findings), "finding")
    context.screen.note(f"{counted(count, 'transcript')} read; {what}")
    return 1 if findings else 0


DOCTOR = Verb(
    """\
Read every transcript of this repository and say what is wrong with them.

They are those that are kept here and those in the agents' own homes; --all reads every project's.
Damaged lines stay where they are: each costs only what it covers. --mend makes the indexes anew
(they are caches); no line of a transcript is ever changed. Exit status 1 when something is wrong.
""",
    _doctor_options,
    _doctor,
)
