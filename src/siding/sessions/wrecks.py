"""Read what a damaged line still tells: which message it was, and which one it came after.

A line is damaged when it is no JSON object any more. Its bytes often hold more than nothing: the
parent stands at the beginning of the line, the message's own id near the end. Only what is certain
is taken: inside a text of the message both would have their quotes escaped.
"""

import re
from typing import NamedTuple

from siding.sessions.kinds import COMPACT_BOUNDARY

_BEGIN_BYTES = 1024  # the keys before the message's own content
_PARENT = re.compile(rb'"parentUuid":\s*(?:(null)|"([^"\\\x00-\x1f]{1,200})")')
_LOGICAL_PARENT = re.compile(rb'"logicalParentUuid":\s*"([^"\\\x00-\x1f]{1,200})"')
_UUID = re.compile(rb'"uuid":\s*"([^"\\\x00-\x1f]{1,200})"')
_AGENT = re.compile(rb'"agentId":\s*"([^"\\\x00-\x1f]{1,200})"')
_SIDE = re.compile(rb'"isSidechain":\s*true')
_BOUNDARY = b'"%b"' % COMPACT_BOUNDARY.encode()


class Wreck(NamedTuple):
    """A damaged line. `names` are the ids it may have had; `parent` is None when the line does not
    tell it. `is_root` means that it tells it had none. `line` is the line of conversation it was
    on: "" for the main one, else the subagent's id, None when that is not known.
    """

    offset: int
    names: tuple[str, ...] = ()
    parent: str | None = None
    is_root: bool = False
    line: str | None = ""


def wreck_of(raw: bytes, offset: int) -> Wreck:
    """Return what a damaged line tells.

    A boundary that is damaged compacts nothing: the message before it counts as its parent, so that
    what the compaction had put away is in the conversation again.
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
