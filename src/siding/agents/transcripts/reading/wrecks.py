"""Read the ids that are left in a damaged line: the message's own, and its parent's.

A line is damaged when it is not a JSON object. Its parent's id is at the beginning of the line, its
own id near the end, so one of them often survives. A match cannot come from the text of the
message: there the quotes would be escaped.
"""

import json
import re
from collections.abc import Iterator

from siding.agents.transcripts.kinds import COMPACT_BOUNDARY
from siding.ground.namedtuples import NamedTuple

_MOST_TRIED = 1_000  # beginnings of objects in one line
_BEGIN_BYTES = 1024  # enough for the keys before the message's content
_PARENT = re.compile(rb'"parentUuid":\s*(?:(null)|"([^"\\\x00-\x1f]{1,200})")')
_LOGICAL_PARENT = re.compile(rb'"logicalParentUuid":\s*"([^"\\\x00-\x1f]{1,200})"')
_UUID = re.compile(rb'"uuid":\s*"([^"\\\x00-\x1f]{1,200})"')
_AGENT = re.compile(rb'"agentId":\s*"([^"\\\x00-\x1f]{1,200})"')
_SIDE = re.compile(rb'"isSidechain":\s*true')
_BOUNDARY = b'"%b"' % COMPACT_BOUNDARY.encode()


class Wreck(NamedTuple):
    """A damaged line at byte `offset`.

    `names`: the ids that may have been its own. `parent`: its parent's id, None when it is lost.
    `is_root`: the line still says that it has no parent. `line`: the conversation line it belongs
    to: "" for the main one, a subagent's id, or None when that is lost.
    """

    offset: int
    names: tuple[str, ...] = ()
    parent: str | None = None
    is_root: bool = False
    line: str | None = ""


def wreck_of(raw: bytes, offset: int) -> Wreck:
    """Return the ids that are left in a damaged line.

    A damaged boundary no longer compacts: the message before it counts as its parent, so that the
    messages which the compaction took out are in the conversation again.
    """
    begin = raw[:_BEGIN_BYTES]
    parent = _text(_LOGICAL_PARENT.search(begin))
    is_root = False
    found = _PARENT.search(begin)
    if found is not None and parent is None:
        parent = found[2].decode("utf-8", "replace") if found[2] is not None else None
        is_root = found[1] is not None and _BOUNDARY not in raw
    line: str | None = ""
    if _SIDE.search(begin):
        line = _text(_AGENT.search(begin))
    return Wreck(
        offset=offset,
        names=tuple(dict.fromkeys(each.decode("utf-8", "replace") for each in _UUID.findall(raw))),
        parent=parent,
        is_root=is_root,
        line=line,
    )


def _text(found: "re.Match[bytes] | None") -> str | None:
    return None if found is None else found[1].decode("utf-8", "replace")


def whole_records(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield begin and end of whole messages in a damaged line, in order.

    A writer that was killed left a line without its end or without its newline, and the next one
    wrote behind it. A message of a conversation names its parent; a part of another message that
    happens to end there does not.
    """
    decode = json.JSONDecoder().raw_decode
    text = raw.decode("utf-8", "surrogateescape")
    at, tried = text.find('{"'), 0
    while at >= 0 and tried < _MOST_TRIED:
        tried += 1
        try:
            value, end = decode(text, at)
        except (ValueError, RecursionError):
            at = text.find('{"', at + 1)
            continue
        if isinstance(value, dict) and "parentUuid" in value and "uuid" in value:
            begin = len(text[:at].encode("utf-8", "surrogateescape"))
            yield begin, begin + len(text[at:end].encode("utf-8", "surrogateescape"))
        at = text.find('{"', end)
