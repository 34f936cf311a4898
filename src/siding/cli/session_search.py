"""Search all sessions of this project for words.

Every word must occur in a message; "quoted words" as they stand. The index is made and kept up to
date on the way; it can be deleted at any time.
"""

from argparse import ArgumentParser, Namespace

from siding.app.project import require_project
from siding.app.session_upkeep import search
from siding.cli.formats import add_format, print_json
from siding.cli.globals import Context
from siding.cli.screen import inert
from siding.cli.words import local_time


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("-s", "--session", metavar="SESSION", help="only in this one")
    parser.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="default: 20")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    screen = context.screen
    words = " ".join(f'"{word}"' if " " in word else word for word in arguments.words)
    hits = search(
        require_project(context.app), words, limit=arguments.limit, session=arguments.session
    )
    if arguments.format == "json":
        print_json(screen, [hit._asdict() for hit in hits])
        return 0 if hits else 1
    for hit in hits:
        side = f" agent {hit.agent_id}" if hit.agent_id else ""
        head = f"{hit.session_id[:8]}{side} {hit.kind} {local_time(hit.timestamp)}"
        screen.print(screen.style(inert(head), "dim"))
        screen.print(f"  {inert(hit.snippet)}")
    if not hits:
        screen.note("no message has all these words")
    return 0 if hits else 1
