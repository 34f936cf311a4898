"""The four views of one transcript, as pure functions of its records.

| view   | shows                                            | for                      |
|--------|--------------------------------------------------|--------------------------|
| raw    | every line, dead branches and damage included    | audit                    |
| screen | the whole conversation, compacted parts included | a person scrolling back  |
| active | from the newest compaction on, snips taken out   | deciding about context   |
| wire   | messages as a model's API takes them             | the request              |
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, CHAIN_TYPES, USER, Record
from siding.agents.transcripts.messages import (
    blocks_of,
    content_of,
    is_blank,
    is_boundary,
    message_id,
    message_of,
    removed_by,
    tool_uses,
)
from siding.agents.transcripts.reading.chains import choose_end, history
from siding.agents.transcripts.reading.recovery import (
    as_blocks,
    is_silent_answer,
    joined_users,
    missing_result,
)
from siding.agents.transcripts.reading.tree import tree_of
from siding.ground.namedtuples import NamedTuple

ZERO_USAGE = {
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def raw(records: Iterable[Record]) -> list[Record]:
    """Return every record as it is in the file."""
    return list(records)


def screen(records: Sequence[Record]) -> list[Record]:
    """Return the whole conversation up to its end, for a person who scrolls back.

    Compacted messages are in their old places, with the compactions between them.
    """
    settled = choose_end(tree_of(records))
    tree = tree_of(records, settled=False)
    end = tree.heads.get(settled.uuid) if settled else None
    return [] if end is None else [records[head.offset] for head in history(tree, end)]


def active(chain: Sequence[Record]) -> list[Record]:
    """Return the messages the model may still see: those since the newest boundary, not snipped.

    Lines that mark a snip or a boundary are kept, even when a snip names them.
    """
    start = max((at for at, record in enumerate(chain) if is_boundary(record)), default=0)
    view = chain[start:]
    removed = {uuid for record in view for uuid in removed_by(record)}
    return [
        record
        for record in view
        if record.get("uuid") not in removed or removed_by(record) or is_boundary(record)
    ]


def with_zero_usage(record: Record) -> Record:
    """Return an assistant message with its token counts set to zero.

    It is used for messages that a compaction kept: their tokens were counted before it.
    """
    message = message_of(record)
    usage = message.get("usage")
    kept = usage if isinstance(usage, dict) else {}
    return {**record, "message": {**message, "usage": {**kept, **ZERO_USAGE}}}


def with_replacements(records: Iterable[Record], replacements: Iterable[Record]) -> list[Record]:
    """Return the records with the text of each replaced tool result exchanged."""
    texts = {
        each.get("toolUseId"): each.get("replacement")
        for each in replacements
        if isinstance(each.get("replacement"), str)
    }
    return [_replaced(record, texts) for record in records] if texts else list(records)


def wire(
    records: Sequence[Record],
    *,
    replacements: Iterable[Record] = (),
    render: Callable[[Record], str] | None = None,
) -> list[Record]:
    """Return the active view as ``{"role", "content"}`` messages that a model's API accepts.

    - System lines, failed answers and blank answers are left out.
    - The lines of one answer become one message; so do user messages that follow each other.
    - Every call has exactly one result, and every result its call. A call that was cut off gets a
      result that says so.
    - `render` returns the text of an attachment; without it attachments are left out.
    - Unknown blocks, and unknown fields of blocks (signatures of thoughts), are kept.
    - Made-up answers at the end are left out: a model would take them for the start of its own.
    """
    return [
        {"role": record["type"], "content": content_of(record)}
        for record in alternating(records, replacements=replacements, render=render)
    ]


def alternating(
    records: Sequence[Record],
    *,
    replacements: Iterable[Record] = (),
    render: Callable[[Record], str] | None = None,
) -> list[Record]:
    """Return the messages of `wire` as records: each still has the fields of its first line."""
    kept = [
        each
        for record in with_replacements(active(records), replacements)
        if (each := _for_wire(record, render)) is not None
    ]
    while kept and is_silent_answer(kept[-1]):
        kept.pop()
    return _alternating(_paired(_merged_answers(kept)))


def _for_wire(record: Record, render: Callable[[Record], str] | None) -> Record | None:
    kind = record.get("type")
    if kind == ATTACHMENT:
        attachment = record.get("attachment")
        text = render(attachment) if render and isinstance(attachment, dict) else ""
        return {"type": USER, "message": {"role": USER, "content": text}} if text else None
    if kind not in CHAIN_TYPES or kind not in (USER, ASSISTANT):
        return None
    if record.get("isVirtual") or record.get("isVisibleInTranscriptOnly"):
        return None
    if kind == ASSISTANT and (record.get("isApiErrorMessage") or is_blank(record)):
        return None
    return record if content_of(record) else None


def _merged_answers(records: Sequence[Record]) -> list[Record]:
    """Join the lines of one answer, even if results of its first calls are between them."""
    merged: list[Record] = []
    places: dict[str, int] = {}
    for record in records:
        answer = message_id(record) if record["type"] == ASSISTANT else None
        if answer is not None and answer in places:
            first = merged[places[answer]]
            content = as_blocks(first) + as_blocks(record)
            merged[places[answer]] = {**first, "message": {**message_of(first), "content": content}}
            continue
        if answer is not None:
            places[answer] = len(merged)
        merged.append(record)
    return merged


def _paired(records: Sequence[Record]) -> list[Record]:
    """Put each result right after its call; if a call has several, the first. Add missing ones."""
    results: dict[Any, Record] = {}
    for record in records:
        if record["type"] == USER:
            for block in blocks_of(record):
                if block.get("type") == "tool_result":
                    results.setdefault(block.get("tool_use_id"), block)
    paired: list[Record] = []
    for record in records:
        if record["type"] == USER:
            rest = [block for block in as_blocks(record) if block.get("type") != "tool_result"]
            if rest:
                paired.append(_user_of(record, rest))
            continue
        paired.append(record)
        answers = [
            results.get(call.get("id")) or missing_result(call) for call in tool_uses(record)
        ]
        if answers:
            paired.append({"type": USER, "message": {"role": USER, "content": answers}})
    return paired


def _user_of(record: Record, blocks: list[Record]) -> Record:
    if isinstance(content_of(record), str):
        return record
    return {**record, "message": {**message_of(record), "content": blocks}}


def _alternating(records: Sequence[Record]) -> list[Record]:
    """Join neighbouring messages of one role: the API wants the roles to alternate."""
    joined: list[Record] = []
    for record in records:
        if joined and joined[-1]["type"] == record["type"]:
            if record["type"] == USER:
                joined[-1] = joined_users(joined[-1], record)
            else:
                content = as_blocks(joined[-1]) + as_blocks(record)
                joined[-1] = {**joined[-1], "message": {"role": ASSISTANT, "content": content}}
        else:
            joined.append(record)
    return joined


def _replaced(record: Record, texts: Mapping[Any, Any]) -> Record:
    content = content_of(record)
    if record.get("type") != USER or not isinstance(content, list):
        return record
    if not any(_is_replaced(block, texts) for block in content):
        return record
    changed = [
        {**block, "content": texts[block["tool_use_id"]]} if _is_replaced(block, texts) else block
        for block in content
    ]
    return {**record, "message": {**message_of(record), "content": changed}}


def _is_replaced(block: Any, texts: Mapping[Any, Any]) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "tool_result"
        and isinstance(block.get("tool_use_id"), str)
        and block["tool_use_id"] in texts
    )


# -- What a model sees, kept up to date as messages are added --------------------------------------


class Spoken(NamedTuple):
    """A message as a model takes it. `kept` is what its provider wants back as it gave it."""

    role: str
    content: Any
    kept: Mapping[str, Any]


class Context:
    """The messages since the newest compaction, and what a model sees of them.

    To make it of all messages takes longer the more there are. Up to the newest answer nothing can
    change any more but by a compaction, a replacement or a withdrawal, so that part is made once.
    """

    def __init__(self, records: Iterable[Record], replacements: Iterable[Record]) -> None:
        self.records: list[Record] = list(records)
        self._replacements = list(replacements)
        self._settled: list[Spoken] = []
        self._settled_at = 0  # so many of the records are in `_settled`

    def spoken(self) -> list[Spoken]:
        """Return what the model sees."""
        self._settle()
        return [*self._settled, *self._made(self.records[self._settled_at :])]

    def add(self, record: Record) -> None:
        """Add a message."""
        self.records.append(record)

    def remove(self, ids: Collection[str]) -> None:
        """Take messages out."""
        self.records = [each for each in self.records if each.get("uuid") not in ids]
        self._forget()

    def replace(self, replacements: Sequence[Record]) -> None:
        """Show other texts in the place of results."""
        self._replacements += replacements
        self._forget()

    def compacted(self, lines: Sequence[Record]) -> None:
        """Take the boundary and the summary of a compaction, and leave out what it sums up."""
        segment = lines[0].get("compactMetadata", {}).get("preservedSegment")
        kept: list[Record] = []
        if segment:
            ids = [each.get("uuid") for each in self.records]
            kept = self.records[ids.index(segment["headUuid"]) :]
        self.records = [*lines, *kept]
        self._forget()

    def _forget(self) -> None:
        self._settled, self._settled_at = [], 0

    def _settle(self) -> None:
        """Move what is before the newest answer into the part that is not made again."""
        at = self._start_of_newest_answer()
        # Roles must alternate where the two parts meet: the first one has to end with a user.
        if at <= self._settled_at or self.records[at - 1].get("type") == ASSISTANT:
            return
        self._settled += self._made(self.records[self._settled_at : at])
        self._settled_at = at

    def _start_of_newest_answer(self) -> int:
        """Return its place; results of its first calls may stand between its lines."""
        answer: str | None = None
        at = 0
        for place in range(len(self.records) - 1, self._settled_at - 1, -1):
            record = self.records[place]
            if record.get("type") != ASSISTANT:
                continue
            found = message_id(record)
            if answer is not None and found != answer:
                break
            answer, at = found, place
        return at

    def _made(self, records: Sequence[Record]) -> list[Spoken]:
        view = records if self._settled_at else active(records)
        kept = {message_id(each): each["sidingKept"] for each in view if "sidingKept" in each}
        return [
            Spoken(each["type"], content_of(each), kept.get(message_id(each), {}))
            for each in alternating(
                [each for each in view if not is_boundary(each)], replacements=self._replacements
            )
        ]
