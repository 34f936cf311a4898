"""Keep a conversation together where the line of a message is damaged, cut or gone.

A line is damaged when it is not a JSON object. Its parent's id is at the beginning of the line, its
own id near the end, so one of them often survives (`Wreck`). A match cannot come from the text of
the message: there the quotes would be escaped.

Each message names its parent, the message before it. If the parent is missing, everything before it
would be out of reach. So the message gets another parent (`Bridge`), which is the first of these
that exists:

1. the missing message's own parent, if the file still tells it: in a `progress` line of an old
   file, which only stands for its parent; in a message that was withdrawn; or in the wreck of the
   missing message's line;
2. the parent that the nearest damaged line before the message names, if that line has lost its own
   id;
3. the message before it in the file, on the same line of conversation.

A message with nothing before it in the file is left alone: in the file of a forked session the
first message may name a parent in another file.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from siding.agents.transcripts.heads import MessageHead
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


class BridgeKind(StrEnum):
    """How the new parent of a message was found."""

    KNOWN = "known"  # nothing is lost: the missing message was withdrawn, or only a stand-in
    WRECK = "wreck"  # read from what is left of a damaged line
    ORDER = "order"  # the message before it in the file


class Bridge(NamedTuple):
    """`message` names `missing` as its parent; its parent is now `to`. None: it is a root now."""

    message: str
    missing: str
    to: str | None
    how: BridgeKind


class Remains(NamedTuple):
    """What is known of messages that are not in the tree.

    `stand_ins`: the parent of each withdrawn message and of each line that only stands for its
    parent. `put_away`: messages a compaction took out; these do not count as missing. `behind`: for
    the summary (or boundary) of a compaction, the last message it kept, which follows it although
    it was written earlier. `first_kept`: the new parent of the first message that it kept.
    """

    stand_ins: Mapping[str, str | None]
    wrecks: Sequence[Wreck]
    put_away: frozenset[str] | set[str]
    behind: Mapping[str, str]
    first_kept: Mapping[str, str]


def is_missing(head: MessageHead, heads: Mapping[str, MessageHead], remains: Remains) -> bool:
    """Return whether the message names a parent that should be in the tree and is not."""
    parent = head.parent
    return parent is not None and parent not in heads and parent not in remains.put_away


def bridges_over(
    heads: Mapping[str, MessageHead], remains: Remains, *, only_certain: bool = False
) -> dict[str, Bridge]:
    """Return a bridge for each message whose parent is missing, by the message's id.

    With `only_certain` the order in the file (the third way above) is not used.
    """
    missing = [head for head in heads.values() if is_missing(head, heads, remains)]
    if not missing:
        return {}
    finder = _Finder(heads, remains)
    found: dict[str, Bridge] = {}
    before = _before(heads, {head.uuid for head in missing})
    for head in missing:
        bridge = finder.bridge(head, before[head.uuid], only_certain=only_certain)
        if bridge is not None:
            found[head.uuid] = bridge
    return found


def still_there(heads: Mapping[str, MessageHead], remains: Remains, uuid: str) -> str | None:
    """Return `uuid` if that message is in the tree, else its nearest known ancestor that is.

    Returns None when nothing tells which that is.
    """
    found = _Finder(heads, remains).trace(uuid)
    return found.to


def _before(heads: Mapping[str, MessageHead], wanted: set[str]) -> dict[str, str | None]:
    """Return, for each wanted message, the one before it in the file on the same conversation line.

    The value is None where there is none.
    """
    last: dict[str, str] = {}
    found: dict[str, str | None] = {}
    for head in heads.values():
        line = head.line
        if head.uuid in wanted:
            found[head.uuid] = None if line is None else last.get(line)
        if line is not None:
            last[line] = head.uuid
    return found


class _Trace(NamedTuple):
    """The nearest ancestor of a missing message. `is_known` is false if nothing tells it.

    `is_kept`: the way to it passes the first message that a compaction kept.
    """

    to: str | None
    is_known: bool
    how: BridgeKind
    is_kept: bool = False


class _Finder:
    def __init__(self, heads: Mapping[str, MessageHead], remains: Remains) -> None:
        self._heads = heads
        self._remains = remains
        self._named = {name: wreck for wreck in remains.wrecks for name in wreck.names}
        self._offsets = [wreck.offset for wreck in remains.wrecks]

    def bridge(self, head: MessageHead, before: str | None, *, only_certain: bool) -> Bridge | None:
        """Return the bridge for `head`, whose parent is missing; None if no parent is found.

        `before` is the message before it in the file.
        """
        assert head.parent is not None
        trace = self.trace(head.parent)
        if not trace.is_known:
            trace = self._by_wreck_between(head, before) or trace
        if not trace.is_known:
            if only_certain or before is None:
                return None
            trace = _Trace(before, is_known=True, how=BridgeKind.ORDER)
        to = trace.to
        if to is not None and not trace.is_kept:
            to = self._remains.behind.get(to, to)
        if to == head.uuid:
            return None
        return Bridge(message=head.uuid, missing=head.parent, to=to, how=trace.how)

    def trace(self, uuid: str) -> _Trace:
        """Follow parents from a message to the first one that is in the tree."""
        how = BridgeKind.KNOWN
        is_kept = False
        passed: set[str] = set()
        current: str | None = uuid
        while current is not None and current not in self._heads:
            if current in passed:  # damaged lines can name each other in a circle
                return _Trace(None, is_known=False, how=how)
            passed.add(current)
            if current in self._remains.first_kept:
                current, how, is_kept = self._remains.first_kept[current], BridgeKind.WRECK, True
                continue
            if current in self._remains.stand_ins:
                current = self._remains.stand_ins[current]
                continue
            wreck = self._named.get(current)
            if wreck is None or (wreck.parent is None and not wreck.is_root):
                return _Trace(None, is_known=False, how=how)
            how = BridgeKind.WRECK
            current = wreck.parent
        return _Trace(current, is_known=True, how=how, is_kept=is_kept)

    def _by_wreck_between(self, head: MessageHead, before: str | None) -> _Trace | None:
        """Follow the parent of the nearest damaged line between `before` and `head`.

        Only damaged lines on the same conversation line that have lost their own id count: `head`
        may be their child. Returns None if there is none.
        """
        start = -1 if before is None else self._heads[before].offset
        wrecks = self._remains.wrecks
        for at in range(bisect_left(self._offsets, head.offset) - 1, -1, -1):
            wreck = wrecks[at]
            if wreck.offset <= start:
                return None
            if wreck.line != head.line:
                continue
            if wreck.names or wreck.parent is None:
                continue
            trace = self.trace(wreck.parent)
            if trace.is_known and trace.to != head.uuid:
                return trace._replace(how=BridgeKind.WRECK)
        return None
