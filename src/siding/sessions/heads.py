"""The part of a message that its place in the tree needs, read without the rest of its line.

A line is looked at once, by a decoder that knows these fields and skips the others, so the cost of
a message nobody wants is the cost of skipping it. What the fast decoder does not take (another
program's idea of a field) is read slowly and leniently; only what is no JSON object is damage.
"""

from sys import intern
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from siding.sessions.kinds import (
    ASSISTANT,
    CHAIN_TYPES,
    COMPACT_BOUNDARY,
    PROGRESS,
    SYSTEM,
    USER,
    PreservedSegment,
    Record,
    moment,
)
from siding.sessions.messages import removed_by
from siding.storage.codec import NotJson, parse_object

_TOOL_RESULT = b'"tool_result"'
_VERSION_WITHIN = 64  # bytes from the end of a line


class Head(Struct, gc=False):
    """One message of a tree.

    `moment` is its time in milliseconds. A message without a time has None, until a tree takes it
    for as old as the newest message before it in the file; `is_dated` is then false. `message_id`
    is shared by the lines of one answer of a model. `answers`: a user message with a tool result.
    `offset` and `size` say where its line is, without the newline.
    """

    uuid: str
    parent: str | None
    kind: str
    moment: int | None
    is_side: bool
    agent: str | None
    message_id: str | None
    answers: bool
    offset: int
    size: int
    is_dated: bool = True

    @property
    def line(self) -> str | None:
        """The line of conversation it is on: "" for the main one, a subagent's id for its own.

        None for a side message that does not say whose it is.
        """
        return (self.agent or None) if self.is_side else ""

    @property
    def is_spoken(self) -> bool:
        """Whether somebody says it: the person or the model."""
        return self.kind in (USER, ASSISTANT)


class Seen(NamedTuple):
    """What a line is: a message (`head`), a bridge of old files, or something else.

    `type` is "" when the record has none. `boundary`: it marks a compaction, with `segment` what it
    keeps and `before` the message it comes after. `removed`: the messages it takes out.
    `withdrawn`: the message a tombstone names.
    """

    type: str
    head: Head | None = None
    bridge: tuple[str, str | None] | None = None
    boundary: bool = False
    segment: PreservedSegment | None = None
    before: str | None = None
    removed: tuple[str, ...] = ()
    withdrawn: str | None = None


class _Message(Struct, gc=False):
    id: str | None = None
    content: Raw = Raw(b"")


class _Wire(Struct, gc=False, rename="camel"):
    type: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    timestamp: str | None = None
    is_sidechain: bool | None = None
    agent_id: str | None = None
    subtype: str | None = None
    message: _Message | None = None
    snip_metadata: Raw | None = None


class _Versioned(Struct, gc=False):
    v: Any = 1


class _VersionedOrNot(Struct, gc=False):
    v: Any = None


_DECODER = msgspec.json.Decoder(_Wire)
_VERSIONED_OR_NOT = msgspec.json.Decoder(_VersionedOrNot)
_VERSIONED = msgspec.json.Decoder(_Versioned)
_ANY = msgspec.json.Decoder()
# What a decoder may raise of bytes from anywhere.
TOO_ODD = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def parsed(raw: bytes) -> Record:
    """Return the whole record of a line; raises `NotJson` with the reason when it is damaged."""
    try:
        record = _ANY.decode(raw)
    except TOO_ODD:
        return parse_object(raw)
    if not isinstance(record, dict):
        raise NotJson("it is not a JSON object")
    return record


def look(raw: bytes, offset: int) -> Head | Seen:
    """Return what the line is, of an ordinary message only its head.

    Raises `NotJson` with the reason when the line is damaged.
    """
    try:
        wire = _DECODER.decode(raw)
    except TOO_ODD:
        return look_at(parse_object(raw), offset, len(raw))
    kind = wire.type
    uuid = wire.uuid
    if kind not in CHAIN_TYPES or not uuid:
        return _other(wire)
    message = wire.message
    answers = (
        kind == USER
        and _TOOL_RESULT in raw
        and message is not None
        and _has_tool_result(bytes(message.content))
    )
    parent = wire.parent_uuid
    head = Head(  # by position: this is done for every line of a file
        intern(uuid),
        intern(parent) if parent else None,
        intern(kind),
        moment(wire.timestamp),
        wire.is_sidechain is True,
        wire.agent_id,
        (message.id or None) if message is not None else None,
        answers,
        offset,
        len(raw),
    )
    if kind != SYSTEM and wire.snip_metadata is None:
        return head
    return _with_marks(head, wire.subtype, raw)


def version_of(raw: bytes) -> int:
    """Return the format version a line was written with: its field "v", 1 without it.

    Writers put it last, so that looking for it costs nothing.
    """
    if b'"v"' not in raw[-_VERSION_WITHIN:]:
        return 1
    try:
        found = _VERSIONED.decode(raw).v
    except TOO_ODD:
        return 1
    return found if isinstance(found, int) else 1


def is_ours(raw: bytes) -> bool:
    """Whether a line was written here: only our writer gives lines a format version."""
    if b'"v"' not in raw[-_VERSION_WITHIN:]:
        return False
    try:
        return _VERSIONED_OR_NOT.decode(raw).v is not None
    except TOO_ODD:
        return False


def look_at(record: Record, offset: int = 0, size: int = 0) -> Head | Seen:
    """Return what a record already read is."""
    kind = _text(record.get("type")) or ""
    uuid = _text(record.get("uuid"))
    parent = _text(record.get("parentUuid"))
    if kind == PROGRESS and uuid is not None:
        return Seen(type=kind, bridge=(uuid, parent))
    if kind == "tombstone" and uuid is not None:
        return Seen(type=kind, withdrawn=uuid)
    if kind not in CHAIN_TYPES or uuid is None:
        return Seen(type=kind)
    message = record.get("message")
    message = message if isinstance(message, dict) else {}
    content = message.get("content")
    head = Head(
        uuid=uuid,
        parent=parent,
        kind=kind,
        moment=moment(record.get("timestamp")),
        is_side=bool(record.get("isSidechain")),
        agent=_text(record.get("agentId")),
        message_id=_text(message.get("id")),
        answers=kind == USER and isinstance(content, list) and any(map(_is_tool_result, content)),
        offset=offset,
        size=size,
    )
    return _marked(head, record)


def _other(wire: _Wire) -> Seen:
    if wire.uuid and wire.type == PROGRESS:
        return Seen(type=wire.type, bridge=(wire.uuid, wire.parent_uuid))
    if wire.uuid and wire.type == "tombstone":
        return Seen(type=wire.type, withdrawn=wire.uuid)
    return Seen(type=wire.type)


def _with_marks(head: Head, subtype: str | None, raw: bytes) -> Head | Seen:
    if subtype != COMPACT_BOUNDARY and b'"snipMetadata"' not in raw:
        return head
    try:
        return _marked(head, parsed(raw))
    except NotJson:  # what was skipped is damaged; the place in the tree is known all the same
        return Seen(type=head.kind, head=head, boundary=subtype == COMPACT_BOUNDARY)


def _marked(head: Head, record: Record) -> Seen:
    boundary = head.kind == SYSTEM and record.get("subtype") == COMPACT_BOUNDARY
    return Seen(
        type=head.kind,
        head=head,
        boundary=boundary,
        segment=_segment(record) if boundary else None,
        before=_text(record.get("logicalParentUuid")) if boundary else None,
        removed=tuple(removed_by(record)),
    )


def _segment(record: Record) -> PreservedSegment | None:
    metadata = record.get("compactMetadata")
    segment = metadata.get("preservedSegment") if isinstance(metadata, dict) else None
    if not isinstance(segment, dict):
        return None
    try:
        return msgspec.convert(segment, PreservedSegment)
    except msgspec.ValidationError:
        return None


def _has_tool_result(content: bytes) -> bool:
    try:
        blocks = msgspec.json.decode(content)
    except TOO_ODD:
        return False
    return isinstance(blocks, list) and any(map(_is_tool_result, blocks))


def _is_tool_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
