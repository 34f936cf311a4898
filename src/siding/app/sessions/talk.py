"""Data for the session page: a slice of the messages, split into parts, with each call's tokens."""

import json
from collections.abc import Iterable, Iterator, Sequence

from siding.app.place.project import Project
from siding.app.sessions.shelf import store_of
from siding.errors import NotFound
from siding.namedtuples import NamedTuple
from siding.sessions.kinds import ASSISTANT, ATTACHMENT, SYSTEM, USER, Record
from siding.sessions.markdown import result_text
from siding.sessions.messages import content_of, is_boundary, is_tool_result, message_of
from siding.sessions.reading.listing import first_prompt

SHOWN_AT_ONCE = 80  # messages
LONGEST_PART = 20_000  # characters
MOST_CALLS = 2_000  # of the newest, in the chart


class TalkPart(NamedTuple):
    """A piece of a message. `kind`: text, thought, call, result, error, other."""

    kind: str
    title: str
    text: str


class Said(NamedTuple):
    """One message. `who`: person, model, tools, summary, hidden, boundary, system, attachment."""

    number: int
    who: str
    at: str
    parts: tuple[TalkPart, ...]


class ToolCall(NamedTuple):
    """The tokens of one answer of a model."""

    at: str
    input: int  # tokens of the whole context, cached or not
    output: int


class Talk(NamedTuple):
    """A slice of a session's live chain, with figures of the whole session."""

    id: str
    title: str
    said: tuple[Said, ...]
    first: int  # the number of the first message shown, from 1
    messages: int  # of the whole chain
    forked_from: str  # the session this one branched from, "" for none
    calls: tuple[ToolCall, ...]
    damage: int  # lines that could not be read
    gaps: int  # places where a message is missing


def talk(project: Project, session: str, *, before: int = 0) -> Talk:
    """Return the newest messages of a session, or the newest before the number `before`."""
    store = store_of(project)
    if session not in store.ids():
        raise NotFound(f"there is no session {session!r}")
    with store.live(session) as transcript:
        heads = transcript.chain()
        last = min(len(heads), before - 1) if before else len(heads)
        first = max(0, last - SHOWN_AT_ONCE)
        shown = list(transcript.records(heads[first:last]))
        begin = list(transcript.records(heads[:20]))
        title = store.metadata(session, transcript).title(session) or first_prompt(begin)
        answers = [head for head in heads if head.kind == ASSISTANT][-MOST_CALLS:]
        calls = tuple(_calls(transcript.records(answers)))
        damage = len(transcript.damage)
        gaps = len(transcript.gaps(heads))
    return Talk(
        id=session,
        title=title,
        said=tuple(_said(first + at, record) for at, record in enumerate(shown, 1)),
        first=first + 1,
        messages=len(heads),
        forked_from=_source(begin),
        calls=calls,
        damage=damage,
        gaps=gaps,
    )


def _said(number: int, record: Record) -> Said:
    return Said(
        number=number,
        who=_who(record),
        at=str(record.get("timestamp") or ""),
        parts=tuple(_parts(record)),
    )


def _who(record: Record) -> str:
    kind = record.get("type")
    if is_boundary(record):
        return "boundary"
    if kind in (SYSTEM, ATTACHMENT):
        return str(kind)
    if kind == ASSISTANT:
        return "model"
    if kind != USER:
        return "system"
    if record.get("isCompactSummary"):
        return "summary"
    if is_tool_result(record):
        return "tools"
    return "hidden" if record.get("isMeta") else "person"


def _parts(record: Record) -> Iterator[TalkPart]:
    content = content_of(record)
    if record.get("type") == SYSTEM:
        content = record.get("content")
    if isinstance(content, str):
        yield TalkPart("text", "", _cut(content))
        return
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text":
            yield TalkPart("text", "", _cut(str(block.get("text") or "")))
        elif kind == "thinking":
            yield TalkPart("thought", "thoughts", _cut(str(block.get("thinking") or "")))
        elif kind == "tool_use":
            given = json.dumps(block.get("input"), ensure_ascii=False, indent=2)
            yield TalkPart("call", str(block.get("name") or "tool"), _cut(given))
        elif kind == "tool_result":
            word = "error" if block.get("is_error") else "result"
            yield TalkPart(word, word, result_text(block.get("content"), LONGEST_PART))
        else:
            yield TalkPart("other", str(kind), "")


def _cut(text: str) -> str:
    if len(text) <= LONGEST_PART:
        return text
    return f"{text[:LONGEST_PART]}\n… {len(text) - LONGEST_PART} more characters"


def _source(records: Sequence[Record]) -> str:
    for record in records:
        forked = record.get("forkedFrom")
        if isinstance(forked, dict) and isinstance(forked.get("sessionId"), str):
            return str(forked["sessionId"])
    return ""


def _calls(records: Iterable[Record]) -> Iterator[ToolCall]:
    """Yield one call for each answer. An answer has several lines, which all repeat its usage."""
    seen: set[object] = set()
    for record in records:
        message = message_of(record)
        usage = message.get("usage")
        name = message.get("id") or record.get("uuid")
        if not isinstance(usage, dict) or name in seen:
            continue
        seen.add(name)
        given = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        yield ToolCall(
            at=str(record.get("timestamp") or ""),
            input=sum(_whole(usage.get(each)) for each in given),
            output=_whole(usage.get("output_tokens")),
        )


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
