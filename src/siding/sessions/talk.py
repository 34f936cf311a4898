"""Data for the session page: a slice of the messages, split into parts, with each call's tokens.

The steps that the conversation has led to stand between its messages.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from siding.agents.transcripts.heads import MessageHead
from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, SYSTEM, USER, Record, moment
from siding.agents.transcripts.markdown import result_text
from siding.agents.transcripts.messages import content_of, is_boundary, is_tool_result, message_of
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.sessions.reader import ReadableSession
from siding.sessions.shelf import store_of
from siding.sessions.steps import LedStep, led_step, part_of, with_steps

SHOWN_AT_ONCE = 80  # messages
LONGEST_PART = 20_000  # characters
MOST_CALLS = 2_000  # of the newest, in the chart


class TalkPart(NamedTuple):
    """A piece of a message. `kind`: text, thought, call, result, error, other, step."""

    kind: str
    title: str
    text: str


class Said(NamedTuple):
    """One message, or a step that came of it.

    `who`: person, model, tools, summary, hidden, boundary, system, attachment, step.
    `led` is set for a step, which has no number.
    """

    number: int
    who: str
    at: str
    parts: tuple[TalkPart, ...]
    led: LedStep | None = None


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
    last: int  # and of the last one
    messages: int  # of the whole chain
    forked_from: str  # the session this one branched from, "" for none
    calls: tuple[ToolCall, ...]
    damage: int  # lines that could not be read
    gaps: int  # places where a message is missing


def talk(
    found: ReadableSession, steps: Sequence[LedStep], *, before: int = 0, step: int = 0
) -> Talk:
    """Return the newest messages of a session, or the newest before the number `before`.

    With `step` they are those that begin with what led to the step with this number. Raises
    NotFound.
    """
    store, session = store_of(found.place), found.id
    with store.live(session) as transcript:
        heads = transcript.shown()
        last = min(len(heads), before - 1) if before else len(heads)
        first = max(0, last - SHOWN_AT_ONCE)
        if step:
            led = part_of(with_steps(transcript.records(heads), steps), step)
            first = _place(heads, led[0])
            last = min(len(heads), first + SHOWN_AT_ONCE)
        shown = list(transcript.records(heads[first:last]))
        begin = list(transcript.records(heads[:20]))
        title = store.title(session, transcript) or transcript.first_prompt(heads)
        answers = [head for head in heads if head.kind == ASSISTANT][-MOST_CALLS:]
        calls = tuple(_calls(transcript.records(answers)))
        damage = len(transcript.damage)
        gaps = len(transcript.gaps(heads))
        after = list(transcript.records(heads[last : last + 1]))
    return Talk(
        id=session,
        title=title,
        said=tuple(_all_said(first, shown, _between(steps, shown if first else [], after))),
        first=first + 1,
        last=last,
        messages=len(heads),
        forked_from=_source(begin),
        calls=calls,
        damage=damage,
        gaps=gaps,
    )


def _place(heads: Sequence[MessageHead], record: Record) -> int:
    """Return at which place of the chain a message is; 0 if it is none of it."""
    uuid = record.get("uuid")
    return next((place for place, head in enumerate(heads) if head.uuid == uuid), 0)


def _between(
    steps: Sequence[LedStep], shown: Sequence[Record], after: Sequence[Record]
) -> list[LedStep]:
    """Return the steps that were recorded among the messages that are shown."""
    times = [moment(each.get("timestamp")) for each in (*shown[:1], *after)]
    begin = times[0] if shown else None
    end = times[-1] if after else None
    return [
        each
        for each in steps
        if (begin is None or each.at >= begin) and (end is None or each.at < end)
    ]


def _all_said(first: int, records: Sequence[Record], steps: Sequence[LedStep]) -> Iterator[Said]:
    number = first
    for record in with_steps(records, steps):
        led = led_step(record, steps)
        if led is not None:
            at = str(record.get("timestamp") or "")
            yield Said(
                number=0, who="step", at=at, parts=(TalkPart("step", "", led.text),), led=led
            )
            continue
        number += 1
        yield _said(number, record)


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
    return f"{text[:LONGEST_PART]}\n… {counted(len(text) - LONGEST_PART, 'more character')}"


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
