"""Read the fields of a line that decide its place in the tree, without the rest of the line.

Each line is decoded once, by a decoder that knows only these fields and skips the others, so a
message that nobody asks for costs little. A line with a field of another type than expected, as
other programs write them, is parsed slowly and leniently. A line counts as damaged only when it is
not a JSON object.
"""

from sys import intern
from typing import Any

import msgspec
from msgspec import Raw, Struct

from siding.agents.transcripts.kinds import (
    ASSISTANT,
    CHAIN_TYPES,
    COMPACT_BOUNDARY,
    PROGRESS,
    SYSTEM,
    USER,
    Record,
    moment,
)
from siding.agents.transcripts.messages import removed_by
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object

_TOOL_RESULT = b'"tool_result"'
_VERSION_WITHIN = 64  # bytes from the end of a line


class PreservedSegment(Struct, rename="camel", frozen=True, kw_only=True):
    """Messages before a boundary that a compaction keeps.

    They are the chain from head to tail, and come after the anchor.
    """

    head_uuid: str
    anchor_uuid: str
    tail_uuid: str


class MessageHead(Struct, gc=False):
    """One message of a tree.

    `moment` is its time in milliseconds since 1970, None if it has none; a tree then gives it the
    newest time before it in the file and sets `is_dated` to false. `message_id` is the same for all
    lines of one answer of a model. `answers`: it is a user message with a tool result. `offset` and
    `size` are the bytes of its line in the file, without the newline.
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
        """The conversation line it belongs to: "" for the main one, else the subagent's id.

        None for a side message that names no subagent.
        """
        return (self.agent or None) if self.is_side else ""

    @property
    def is_spoken(self) -> bool:
        """Whether it is a message of the person or of the model."""
        return self.kind in (USER, ASSISTANT)


class SeenLine(NamedTuple):
    """A line that is more, or less, than an ordinary message.

    `type` is "" when the record has none. `head` is set for a message. `bridge` is set for a
    `progress` line of an old file: its id and its parent's. `boundary`: the line marks a
    compaction, which keeps `segment` and was made after the message `before`. `removed`: ids of
    messages that it takes out. `withdrawn`: the id that a tombstone names.
    """

    type: str
    head: MessageHead | None = None
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
# What msgspec's decoders raise for bytes that are not what they expect.
TOO_ODD = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


def parsed(raw: bytes) -> Record:
    """Return the whole record of a line. Raises `NotJson` with the reason if it is damaged."""
    try:
        record = _ANY.decode(raw)
    except TOO_ODD:
        return parse_object(raw)
    if not isinstance(record, dict):
        raise NotJson("it is not a JSON object")
    return record


def look(raw: bytes, offset: int) -> MessageHead | SeenLine:
    """Return the line's `SeenLine`, or only its `MessageHead` when it is an ordinary message.

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
    head = (
        MessageHead(  # positional arguments are faster, and every line of a file comes through here
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
    )
    if kind != SYSTEM and wire.snip_metadata is None:
        return head
    return _with_marks(head, wire.subtype, raw)


def version_of(raw: bytes) -> int:
    """Return the format version a line was written with: its field "v", 1 without it.

    Only the end of the line is searched: our writer puts the field last.
    """
    if b'"v"' not in raw[-_VERSION_WITHIN:]:
        return 1
    try:
        found = _VERSIONED.decode(raw).v
    except TOO_ODD:
        return 1
    return found if isinstance(found, int) else 1


def is_ours(raw: bytes) -> bool:
    """Return whether Siding wrote the line: no other program writes a field "v"."""
    if b'"v"' not in raw[-_VERSION_WITHIN:]:
        return False
    try:
        return _VERSIONED_OR_NOT.decode(raw).v is not None
    except TOO_ODD:
        return False


def look_at(record: Record, offset: int = 0, size: int = 0) -> MessageHead | SeenLine:
    """Return the `MessageHead` or `SeenLine` of a record that is parsed already."""
    kind = _text(record.get("type")) or ""
    uuid = _text(record.get("uuid"))
    parent = _text(record.get("parentUuid"))
    if kind == PROGRESS and uuid is not None:
        return SeenLine(type=kind, bridge=(uuid, parent))
    if kind == "tombstone" and uuid is not None:
        return SeenLine(type=kind, withdrawn=uuid)
    if kind not in CHAIN_TYPES or uuid is None:
        return SeenLine(type=kind)
    message = record.get("message")
    message = message if isinstance(message, dict) else {}
    content = message.get("content")
    head = MessageHead(
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


def _other(wire: _Wire) -> SeenLine:
    if wire.uuid and wire.type == PROGRESS:
        return SeenLine(type=wire.type, bridge=(wire.uuid, wire.parent_uuid))
    if wire.uuid and wire.type == "tombstone":
        return SeenLine(type=wire.type, withdrawn=wire.uuid)
    return SeenLine(type=wire.type)


def _with_marks(head: MessageHead, subtype: str | None, raw: bytes) -> MessageHead | SeenLine:
    if subtype != COMPACT_BOUNDARY and b'"snipMetadata"' not in raw:
        return head
    try:
        return _marked(head, parsed(raw))
    except NotJson:  # a part that the decoder skipped is damaged; its place in the tree is known
        return SeenLine(type=head.kind, head=head, boundary=subtype == COMPACT_BOUNDARY)


def _marked(head: MessageHead, record: Record) -> SeenLine:
    boundary = head.kind == SYSTEM and record.get("subtype") == COMPACT_BOUNDARY
    return SeenLine(
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
