"""Search the sessions of this repository for words: those found, and those imported.

Every word must occur in a message; "quoted words" as they stand. The index is made and kept up to
date on the way; it can be deleted at any time. Secrets are masked in all but text on a terminal.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import local_time
from siding.faces.cli.sessions.options import add_filters, add_no_redact, filter_of, is_redacted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("-s", "--session", metavar="SESSION", help="only in this one")
    add_filters(parser)
    parser.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="default: 20")
    add_format(parser, "text", "json")
    add_no_redact(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.sessions.finding import scope_of
    from siding.sessions.searching import search

    screen = context.screen
    words = " ".join(f'"{word}"' if " " in word else word for word in arguments.words)
    app = context.app
    hits, names = search(
        app,
        scope_of(app, everything=arguments.all),
        words,
        filter_of(arguments, app),
        limit=arguments.limit,
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
