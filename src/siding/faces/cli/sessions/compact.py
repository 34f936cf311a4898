"""Make a session's context shorter; its transcript keeps every line.

--summary FILE puts the text of a file in the place of what was said ("-": standard input); with
--from MESSAGE that message and all after it stay, with --up-to MESSAGE all before it.
--memory FILE does the same with a memory of the session, that knows what was said up to --known.
--clear-results N replaces all but the newest N tool results by a short text.
--snip FIRST LAST leaves a stretch of messages out.

A session in the home of an agent is imported first. `siding session open` goes on with it.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.sessions.upkeep import Compacted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--summary", metavar="FILE")
    how.add_argument("--memory", metavar="FILE")
    how.add_argument("--clear-results", type=int, metavar="N")
    how.add_argument("--snip", nargs=2, metavar=("FIRST", "LAST"))
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--from", dest="tail", metavar="MESSAGE", help="this and all after it stay")
    part.add_argument("--up-to", dest="head", metavar="MESSAGE", help="all before it stays")
    part.add_argument("--known", metavar="MESSAGE", help="the last message the memory knows")
    parser.add_argument("--note", default="", metavar="TEXT", help="recorded with the compaction")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.kept_session import kept_session, say_how_it_goes_on

    project, session = kept_session(context, arguments.session)
    done = _compacted(project, session, arguments)
    context.screen.note(
        f"session {done.session_id}: about {done.before} tokens of context, now {done.after}"
    )
    say_how_it_goes_on(context, session)
    return 0


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
            summary=_text(arguments.memory),
            at=arguments.known,
            is_memory=True,
            note=arguments.note,
        )
    return compact(
        project,
        session,
        summary=_text(arguments.summary),
        at=arguments.tail or arguments.head,
        keep=Keep.HEAD if arguments.head else Keep.TAIL,
        note=arguments.note,
    )


def _text(name: str) -> str:
    from siding.sessions.upkeep import read_text

    return sys.stdin.read() if name == "-" else read_text(Path(name))
