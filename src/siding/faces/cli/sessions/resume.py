"""Show how a session ended, and the messages a model would be sent to go on with it.

What an interrupted program left (calls it gave up, blank answers) is taken out. A turn that was cut
off in a call keeps it, with a result that says so; a prompt without an answer is named. `--format
wire` prints the messages as a model's API takes them.
--fork makes a copy to go on with and leaves the session alone; one in the home of an agent is
imported first.

Secrets are masked ([redacted:kind]) in all but text on a terminal; --no-redact leaves them as they
are, for a program of yours that goes on with the conversation.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import counted
from siding.faces.cli.sessions.options import add_no_redact, is_redacted

if TYPE_CHECKING:
    from siding.sessions.shelf import SessionPlace


ENDINGS = {
    "none": "complete",
    "interrupted_prompt": "a prompt is waiting for its answer",
    "interrupted_turn": "cut off in the middle of a turn; it goes on with a hidden prompt",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    parser.add_argument("--fork", action="store_true", help="go on with a copy")
    add_format(parser, "text", "json", "wire")
    add_no_redact(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.kept_session import kept_session
    from siding.faces.cli.telling.session_damage import damage_lines
    from siding.sessions.finding import scope_of
    from siding.sessions.reading import readable
    from siding.sessions.sessions import resume, without_secrets

    screen = context.screen
    app = context.app
    place: SessionPlace
    if arguments.fork:
        place, session = kept_session(context, arguments.session)
    else:
        _, place, session = readable(app, scope_of(app), arguments.session)
    found = resume(place, session, fork=arguments.fork)
    if is_redacted(arguments, screen):
        found = without_secrets(place, found)
    if arguments.format == "wire":
        print_json(screen, found.wire())
        return 0
    if arguments.format == "json":
        shown = found._asdict()
        shown["damage"] = [each._asdict() for each in found.damage]
        shown["gaps"] = [each._asdict() for each in found.gaps]
        print_json(screen, shown)
        return 0
    lines = [
        ("session", found.id),
        ("title", shorten(found.title, 80)),
        ("ended", ENDINGS[found.ending.value]),
        ("messages", counted(found.messages, "message")),
        ("mode", found.mode or ""),
        ("goal", str((found.goal or {}).get("objective") or "")),
        ("worktree", str((found.worktree or {}).get("worktreePath") or "")),
        ("damaged", counted(len(found.damage), "line") if found.damage else ""),
        ("missing", counted(len(found.gaps), "message") if found.gaps else ""),
    ]
    for name, value in lines:
        if value:
            screen.print(f"{screen.style(f'{name:9}', 'dim')} {inert(value)}")
    for line in damage_lines(found.damage, found.gaps):
        screen.warn(line)
    return 0
