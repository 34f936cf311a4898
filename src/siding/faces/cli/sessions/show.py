"""Show a conversation: its live chain, or with --all also what was compacted away.

SESSION is an id, its beginning, or a title; the newest session without one. SESSION#12 begins at
the message with this number, --step N is what led to a step. `html` is one page that needs nothing
else; `lines` are the transcript's own lines.

Secrets are masked ([redacted:kind]) in all but text on a terminal: a page, a file or a pipe is
usually for somebody else. --no-redact leaves them as they are.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING

from siding.faces.cli.formats import json_text
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.sessions.options import SESSION, add_no_redact, is_redacted, redaction_note
from siding.ground.errors import NotFound, counted

if TYPE_CHECKING:
    from siding.agents.transcripts.reading.transcript import Gap, TranscriptDamage
    from siding.sessions.sessions import Conversation
    from siding.sessions.steps import Record


_MOST_AGENTS = 20  # that are named


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help=SESSION)
    parser.add_argument(
        "-a", "--all", action="store_true", help="what was compacted away, hooks and times too"
    )
    parser.add_argument("--step", type=int, metavar="N", help="only what led to this step")
    parser.add_argument("--agent", metavar="AGENT", help="the conversation of this subagent")
    parser.add_argument("-o", "--output", metavar="FILE", help="write into a file")
    add_format(parser, "text", "markdown", "json", "html", "lines")
    add_no_redact(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.sessions.lookup import scope_of
    from siding.sessions.pages import as_text
    from siding.sessions.reader import readable
    from siding.sessions.sessions import agents, conversation, raw_lines
    from siding.sessions.steps import led_to, part_of, with_steps

    app, screen = context.app, context.screen
    scope = scope_of(app)
    named, first = _split(arguments.session)
    row, place, session = readable(app, scope, named)
    redacted = is_redacted(arguments, screen)
    if arguments.format == "lines":
        _copy(screen, arguments, raw_lines(place, session, redacted=redacted))
        return 0
    with conversation(
        place,
        session,
        everything=arguments.all,
        agent=arguments.agent,
        redacted=redacted,
    ) as shown:
        found = shown
        if first:
            found = found._replace(records=_from(found, first))
        if arguments.agent is None and (arguments.step or arguments.format != "json"):
            steps = led_to(scope.project, row)
            found = found._replace(records=with_steps(found.records, steps))
        if arguments.step is not None:
            found = found._replace(records=iter(part_of(found.records, arguments.step)))
        if arguments.format == "text" and arguments.output is None:
            with paged(screen):
                for piece in as_text(found, everything=arguments.all):
                    screen.out.write(inert(piece, lines=True))
        else:
            pieces = _pieces(arguments.format, found, redacted=redacted)
            _copy(
                screen,
                arguments,
                (piece.encode("utf-8", "backslashreplace") for piece in pieces),
            )
        for line in damage_lines(found.damage, found.gaps):
            screen.warn(f"{found.path}: {line}")
        if arguments.agent is None and arguments.format == "text":
            known = agents(place, found.id, redacted=redacted)
            _tell_agents(screen, [each.title for each in known])
    return 0


def _split(named: str | None) -> tuple[str | None, int]:
    """Return the name of a session, and the number of the message to begin with, 0 for all."""
    name, mark, number = (named or "").rpartition("#")
    if mark and number.isascii() and number.isdigit():
        return name or None, int(number)
    return named, 0


def _from(found: Conversation, first: int) -> Iterator[Record]:
    """Return the records from a message on. Raises NotFound."""
    if first > len(found.ids):
        raise NotFound(f"it has {counted(len(found.ids), 'message')}, and no #{first}")
    uuid = found.ids[first - 1]
    return dropwhile(lambda record: record.get("uuid") != uuid, found.records)


def _tell_agents(screen: Screen, titles: Sequence[str]) -> None:
    if not titles:
        return
    screen.note(f"{counted(len(titles), 'subagent')}; --agent ID shows one")
    for each in titles[:_MOST_AGENTS]:
        screen.note(f"  {inert(each)}")
    if len(titles) > _MOST_AGENTS:
        screen.note(f"  and {len(titles) - _MOST_AGENTS} more")


def _pieces(form: str, found: Conversation, *, redacted: bool) -> Iterable[str]:
    from siding.sessions.pages import as_markdown, as_page

    if form == "html":
        return as_page(found, images=not redacted)
    if form == "json":
        return _json(found)
    return as_markdown(found)


def _json(found: Conversation) -> Iterable[str]:
    head = json_text({"id": found.id, "title": found.title, "path": str(found.path)})
    yield head.rstrip("}\n") + ',\n  "records": ['
    for number, record in enumerate(found.records):
        yield (",\n" if number else "\n") + json_text(record)
    yield "\n  ],\n"
    yield f'  "damage": {json_text([each._asdict() for each in found.damage])},\n'
    yield f'  "gaps": {json_text([each._asdict() for each in found.gaps])}\n}}\n'


def _copy(screen: Screen, arguments: Namespace, pieces: Iterable[bytes]) -> None:
    """Write bytes to standard output, or to the named file, which is replaced."""
    from pathlib import Path

    output = arguments.output
    if output is None:
        screen.out.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    with Path(output).open("wb") as file:
        for piece in pieces:
            file.write(piece)
    screen.note(f"written to {output}, {redaction_note(arguments)}")


_MOST_LINES = 20


def damage_lines(damage: Sequence[TranscriptDamage], gaps: Sequence[Gap]) -> Iterator[str]:
    """Yield a line for each damaged line of the transcript and for each missing message."""
    told = [f"line {each.number} cannot be read: {each.problem}" for each in damage]
    told += map(gap_text, gaps)
    yield from told[:_MOST_LINES]
    if len(told) > _MOST_LINES:
        more = len(told) - _MOST_LINES
        yield f"and {counted(more, 'more damaged place')}; `siding session doctor` names them all"


def gap_text(gap: Gap) -> str:
    """Describe one missing message, and the message from which the conversation goes on."""
    missing = f"line {gap.number}: the message before it ({gap.missing!r}) is not there"
    if gap.bridged_to is None:
        return f"{missing}; the conversation begins here"
    return f"{missing}; the conversation was put together behind {gap.bridged_to!r}"
