"""Render a conversation as text, Markdown or HTML; write the pages of many, and an index."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from siding.agents.transcripts.kinds import ASSISTANT, SYSTEM, USER, Record
from siding.agents.transcripts.markdown import STEP, blocks, markdown, says_nothing
from siding.agents.transcripts.messages import content_of, is_boundary, is_tool_result
from siding.agents.transcripts.page import GENERATOR, IndexEntry, index_page, page
from siding.ground.errors import SidingError, UsageError, counted
from siding.ground.files.durable import make_dirs
from siding.record.place.wiring import App
from siding.sessions.lookup import FoundSession, Scope
from siding.sessions.reader import readable_of
from siding.sessions.sessions import Conversation, agents, conversation
from siding.sessions.steps import led_to, with_steps

_INDEX = "index.html"
# An id becomes the name of a file, and comes from one that anybody may have written.
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,127}")


def write_pages(
    app: App,
    scope: Scope,
    rows: Sequence[FoundSession],
    directory: Path,
    *,
    redacted: bool,
    skip: Callable[[FoundSession, str], None],
) -> int:
    """Write a page for each session and for each of its subagents; return how many sessions.

    `rows` are without secrets if `redacted`. A session that cannot be read is reported to `skip`
    and left out. Raises UsageError if the directory has an index that is not ours, and OSError.
    """
    make_dirs(directory)
    _refuse_others(directory / _INDEX)
    entries: list[IndexEntry] = []
    for row in rows:
        app.tell(f"writing {row.id}")
        try:
            entries.append(_written(app, scope, row, directory, redacted=redacted))
        except (SidingError, ValueError) as error:
            skip(row, str(error))
    app.tell("")
    _write(directory / _INDEX, index_page("Sessions", entries))
    return len(entries)


def _refuse_others(index: Path) -> None:
    try:
        with index.open("rb") as file:
            is_ours = GENERATOR.encode() in file.read(2000)
    except FileNotFoundError:
        return
    if not is_ours:
        raise UsageError(
            f"{str(index)!r} was not written by Siding", hint="name a directory of its own with -o"
        )


def _written(
    app: App, scope: Scope, row: FoundSession, directory: Path, *, redacted: bool
) -> IndexEntry:
    if _ID.fullmatch(row.id) is None:
        raise ValueError("its id cannot be the name of a file")
    _, place, session = readable_of(app, scope, row)
    found = agents(place, session, redacted=redacted)
    parts = [each for each in found if _ID.fullmatch(each.id)]
    for agent in (None, *(each.id for each in parts)):
        with conversation(place, session, everything=False, agent=agent, redacted=redacted) as talk:
            steps = [] if agent else led_to(scope.project, row)
            full = talk._replace(records=with_steps(talk.records, steps))
            _write(directory / _file(row.id, agent), as_page(full, images=not redacted))
    spoken = datetime.fromtimestamp(row.changed_at, UTC).isoformat(" ", "minutes")
    messages = "" if row.messages is None else counted(row.messages, "message")
    task = f"task {row.task}" if row.task else ""
    return IndexEntry(
        file=_file(row.id, None),
        name=row.name,
        when=spoken,
        about=(row.client, row.cwd, task, messages),
        parts=[(_file(row.id, each.id), f"subagent {each.title}") for each in parts],
    )


def _file(session: str, agent: str | None) -> str:
    return f"{session}.html" if agent is None else f"{session}.{agent}.html"


def _write(path: Path, pieces: Iterator[str]) -> None:
    """Write a page piece by piece: a conversation may be larger than the memory."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w", encoding="utf-8", errors="replace") as file:
        file.writelines(pieces)
    os.replace(temporary, path)


SHOWN_RESULT = 600  # characters of a tool's result in a terminal


def as_markdown(found: Conversation) -> Iterator[str]:
    """Yield the conversation as Markdown."""
    return markdown(found.title, found.records)


def as_page(found: Conversation, *, images: bool) -> Iterator[str]:
    """Yield the conversation as one HTML page."""
    return page(found.title, found.records, images=images)


def as_text(found: Conversation, *, everything: bool = False) -> Iterator[str]:
    """Yield the conversation for a terminal; messages of the live chain have their numbers.

    Hooks, times and empty attachments are left out, if not everything is wanted.
    """
    numbers = {uuid: number for number, uuid in enumerate(found.ids, 1)}
    yield f"{found.title}\n{found.id}\n"
    for record in found.records:
        number = numbers.get(str(record.get("uuid")))
        if says_nothing(record) and not everything:
            continue
        if record.get("subtype") == STEP:
            yield f"\n→ {record['content']}\n"
            continue
        mark = f"#{number}" if number else "(compacted)"
        yield f"\n{mark} {_who(record)}  {record.get('timestamp', '')}\n"
        yield "".join(blocks(content_of(record), SHOWN_RESULT)) or _note(record)


def _who(record: Record) -> str:
    kind = record.get("type")
    if is_boundary(record):
        return "compaction"
    if kind == ASSISTANT:
        return "model"
    if kind != USER:
        return str(kind)
    if record.get("isCompactSummary"):
        return "summary"
    if is_tool_result(record):
        return "tools"
    return "hidden prompt" if record.get("isMeta") else "person"


def _note(record: Record) -> str:
    if record.get("type") == SYSTEM:
        return f"\n{record.get('content') or record.get('subtype') or ''}\n"
    return "\n"
