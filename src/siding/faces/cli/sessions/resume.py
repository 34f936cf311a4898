"""The verbs that go on with a session: as it is, in a copy, from an earlier message, shorter."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.sessions.options import SESSION, add_no_redact, is_redacted
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.sessions.shelf import SessionPlace
    from siding.sessions.upkeep import Compacted


def kept_session(context: Context, named: str | None) -> tuple[Project, str]:
    """Return the project and the session's id; a session that was only found is imported."""
    from siding.sessions.lookup import kept

    found = kept(context.app, named)
    if found.imported is not None:
        context.screen.note(f"imported {inert(str(found.imported))}")
    return found.project, found.id


def say_how_it_goes_on(context: Context, session: str) -> None:
    """Say how the client goes on with what was made here."""
    context.screen.note(f"  to go on: siding session open {inert(session)}")


ENDINGS = {
    "none": "complete",
    "interrupted_prompt": "a prompt is waiting for its answer",
    "interrupted_turn": "cut off in the middle of a turn; it goes on with a hidden prompt",
}


def _resume_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help=SESSION)
    parser.add_argument("--fork", action="store_true", help="go on with a copy")
    add_format(parser, "text", "json", "wire")
    add_no_redact(parser)


def _resume(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.sessions.show import damage_lines
    from siding.sessions.lookup import scope_of
    from siding.sessions.reader import readable
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


RESUME = Verb(
    """\
Show how a session ended, and the messages a model would be sent to go on with it.

What an interrupted program left (calls it gave up, blank answers) is taken out. A turn that was cut
off in a call keeps it, with a result that says so; a prompt without an answer is named. `--format
wire` prints the messages as a model's API takes them.
--fork makes a copy to go on with and leaves the session alone; one in the home of an agent is
imported first.

Secrets are masked ([redacted:kind]) in all but text on a terminal; --no-redact leaves them as they
are, for a program of yours that goes on with the conversation.
""",
    _resume_options,
    _resume,
)


def _branch_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help=SESSION)
    add_format(parser, "text", "json")


def _branch(arguments: Namespace, context: Context) -> int:
    from siding.sessions.sessions import branch

    session, title = branch(*kept_session(context, arguments.session))
    if arguments.format == "json":
        print_json(context.screen, {"id": session, "title": title})
        return 0
    context.screen.print(session)
    context.screen.note(f"branched as {title!r}")
    say_how_it_goes_on(context, session)
    return 0


BRANCH = Verb(
    """\
Copy the live chain of a session into a new session; the old one stays as it is.

One in the home of an agent is imported first. `siding session open` goes on with the new one.
""",
    _branch_options,
    _branch,
)


def _rewind_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", metavar="SESSION", help="an id, its beginning, or a title")
    parser.add_argument("message", metavar="MESSAGE", help="its number, or the beginning of its id")


def _rewind(arguments: Namespace, context: Context) -> int:
    from siding.sessions.sessions import rewind

    project, named = kept_session(context, arguments.session)
    session, left = rewind(project, named, arguments.message)
    context.screen.note(f"session {session} goes on there; {counted(left, 'message')} left behind")
    say_how_it_goes_on(context, session)
    return 0


REWIND = Verb(
    """\
Let a session go on from one of its messages.

MESSAGE is a number that `siding session show` prints, or the beginning of an id. Nothing is taken
out of the transcript: the messages after it become a branch that is no longer the live one.

A session in the home of an agent is imported first, and its file there stays as it is. `siding
session open` lets the agent go on from there, with a copy.
""",
    _rewind_options,
    _rewind,
)


def _compact_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help=SESSION)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--summary", metavar="FILE", help="this text in the place of what was said")
    how.add_argument("--memory", metavar="FILE", help="the same with a memory of the session")
    how.add_argument(
        "--clear-results", type=int, metavar="N", help="keep the newest N results of tools"
    )
    how.add_argument("--snip", nargs=2, metavar=("FIRST", "LAST"), help="leave these messages out")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--from", dest="tail", metavar="MESSAGE", help="this and all after it stay")
    part.add_argument("--up-to", dest="head", metavar="MESSAGE", help="all before it stays")
    part.add_argument("--known", metavar="MESSAGE", help="the last message the memory knows")
    parser.add_argument("--note", default="", metavar="TEXT", help="recorded with the compaction")


def _compact(arguments: Namespace, context: Context) -> int:

    project, session = kept_session(context, arguments.session)
    done = _compacted(project, session, arguments)
    context.screen.note(
        f"session {done.session_id}: about {done.before} tokens of context, now {done.after}"
    )
    say_how_it_goes_on(context, session)
    return 0


COMPACT = Verb(
    """\
Make a session's context shorter; its transcript keeps every line.

--summary FILE puts the text of a file in the place of what was said ("-": standard input); with
--from MESSAGE that message and all after it stay, with --up-to MESSAGE all before it.
--memory FILE does the same with a memory of the session, that knows what was said up to --known.
--clear-results N replaces all but the newest N tool results by a short text.
--snip FIRST LAST leaves a stretch of messages out.

A session in the home of an agent is imported first. `siding session open` goes on with it.
""",
    _compact_options,
    _compact,
)


def _compacted(project: Project, session: str, arguments: Namespace) -> Compacted:
    from siding.sessions.upkeep import Keep, clear_results, compact, leave_out

    if arguments.clear_results is not None:
        if arguments.clear_results < 0:
            raise UsageError("--clear-results needs 0 or more", hint="0 clears them all")
        return clear_results(project, session, keep_last=arguments.clear_results)
    if arguments.snip is not None:
        return leave_out(project, session, *arguments.snip)
    if arguments.memory is not None:
        return compact(
            project,
            session,
            summary=_compact_text(arguments.memory),
            at=arguments.known,
            is_memory=True,
            note=arguments.note,
        )
    return compact(
        project,
        session,
        summary=_compact_text(arguments.summary),
        at=arguments.tail or arguments.head,
        keep=Keep.HEAD if arguments.head else Keep.TAIL,
        note=arguments.note,
    )


def _compact_text(name: str) -> str:
    from pathlib import Path

    from siding.sessions.upkeep import read_text

    return sys.stdin.read() if name == "-" else read_text(Path(name))
