"""The tree of a transcript's messages.

Lines are added in file order. `settle` then applies the newest compaction (the messages it keeps
move behind its boundary, the others before it are removed) and all snips. A message that is added
twice keeps its first place and its last value.
"""

from collections.abc import Iterable
from itertools import takewhile

from siding.agents.transcripts.heads import MessageHead, PreservedSegment, SeenLine, look_at
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.reading.damage import (
    Bridge,
    Remains,
    Wreck,
    bridges_over,
    is_missing,
    still_there,
)
from siding.ground.namedtuples import NamedTuple


class Boundary(NamedTuple):
    """A compaction: the id of its line, and the segment of earlier messages that it keeps.

    `before` is the id of the message that was the last one when the compaction was made.
    """

    uuid: str
    segment: PreservedSegment | None
    before: str | None = None


class TranscriptTree:
    """Messages by uuid, in file order.

    `kept`: the messages that the newest compaction keeps. Their tokens were counted before it, so
    their usage must read as zero. `behind`: maps the summary (or boundary) to the last kept
    message, which follows it although it was written earlier. `bridged`: the messages whose parent
    is missing, with the parent they have instead. `bridges`: the parents of `progress` lines of old
    files, which only stand for them.
    """

    __slots__ = (
        "_first_kept",
        "_latest",
        "_put_away",
        "_withdrawn",
        "behind",
        "boundaries",
        "bridged",
        "bridges",
        "heads",
        "kept",
        "removed",
        "wrecks",
    )

    def __init__(self) -> None:
        self.heads: dict[str, MessageHead] = {}
        self.boundaries: list[Boundary] = []
        self.bridges: dict[str, str | None] = {}
        self.bridged: dict[str, Bridge] = {}
        self.removed: set[str] = set()
        self.kept: set[str] = set()
        self.behind: dict[str, str] = {}
        self._first_kept: dict[str, str] = {}
        self.wrecks: list[Wreck] = []
        self._withdrawn: dict[str, str | None] = {}
        self._put_away: set[str] = set()
        self._latest = 0

    def add(self, seen: MessageHead | SeenLine) -> None:
        """Add the next line of the file."""
        if isinstance(seen, MessageHead):
            self._add_head(seen)
            return
        if seen.head is not None:
            self._add_head(seen.head)
            uuid = seen.head.uuid
            if seen.boundary:
                self.boundaries = [each for each in self.boundaries if each.uuid != uuid]
                self.boundaries.append(
                    Boundary(uuid=uuid, segment=seen.segment, before=seen.before)
                )
            self.removed.update(seen.removed)
        elif seen.bridge is not None:
            uuid, parent = seen.bridge
            self.bridges[uuid] = self.bridges.get(parent, parent) if parent else None
        elif seen.withdrawn is not None:
            gone = self.heads.pop(seen.withdrawn, None)
            if gone is not None:
                before = {each.uuid: each.before for each in self.boundaries}
                self._withdrawn[gone.uuid] = gone.parent or before.get(gone.uuid)

    def add_wreck(self, wreck: Wreck) -> None:
        """Add the next line of the file, which is damaged."""
        self.wrecks.append(wreck)

    def _add_head(self, head: MessageHead) -> None:
        if self.bridges and head.parent in self.bridges:
            head.parent = self.bridges[head.parent]
        if head.moment is None:
            head.moment = self._latest
            head.is_dated = False
        elif head.moment > self._latest:
            self._latest = head.moment
        self.heads[head.uuid] = head

    def settle(self) -> "TranscriptTree":
        """Apply the newest compaction and all snips; return the tree itself."""
        if self.wrecks:
            # A line inside the kept segment may be damaged. Bridge it before the segment is walked,
            # but not by file order: in the wrong place that would keep other messages.
            self.bridged = bridges_over(self.heads, self._remains(), only_certain=True)
        self._keep_segment()
        self._snip()
        return self.bridge()

    def bridge(self) -> "TranscriptTree":
        """Find another parent for each message whose parent is missing; return the tree itself."""
        self.bridged = bridges_over(self.heads, self._remains())
        return self

    def parent_id(self, head: MessageHead) -> str | None:
        """Return the id of the message's parent, or of the one it has instead of a missing one."""
        if head.uuid in self.bridged:
            return self.bridged[head.uuid].to
        return head.parent

    def parent(self, head: MessageHead) -> MessageHead | None:
        """Return the message's parent; None for a root or when the parent is missing."""
        parent = self.parent_id(head)
        return self.heads.get(parent) if parent is not None else None

    def missing_parents(self, heads: Iterable[MessageHead]) -> list[MessageHead]:
        """Return those of the messages whose parent is missing and left no trace in the lines."""
        remains = self._remains()
        traces = {name for wreck in self.wrecks for name in wreck.names} | remains.stand_ins.keys()
        return [
            head
            for head in heads
            if is_missing(head, self.heads, remains) and head.parent not in traces
        ]

    def before_boundary(self, uuid: str) -> MessageHead | None:
        """Return the message that was the last one when the compaction `uuid` was made.

        If it is damaged or withdrawn, its nearest ancestor, or else the last message of the main
        line before the boundary. None when there is no such compaction or message.
        """
        before = next((each.before for each in self.boundaries if each.uuid == uuid), None)
        if before is None:
            return None
        if before in self.heads:
            return self.heads[before]
        found = still_there(self.heads, self._remains(), before)
        if found is None:
            earlier = takewhile(lambda head: head.uuid != uuid, self.heads.values())
            found = next((head.uuid for head in reversed(list(earlier)) if not head.is_side), None)
        return self.heads[found] if found is not None else None

    def _remains(self) -> Remains:
        return Remains(
            stand_ins=self.bridges | self._withdrawn,
            wrecks=self.wrecks,
            put_away=self._put_away,
            behind=self.behind,
            first_kept=self._first_kept,
        )

    def unfinished(self) -> set[str]:
        """Return the ids of boundaries without a child: their summaries were never stored."""
        parents = {self.parent_id(head) for head in self.heads.values()}
        return {each.uuid for each in self.boundaries} - parents

    def _keep_segment(self) -> None:
        present = [each for each in self.boundaries if each.uuid in self.heads]
        if not any(each.segment for each in present):
            return
        last = present[-1]
        kept: set[str] = set()
        if last.segment is not None:
            if last.segment.head_uuid not in self.heads:
                self._first_kept = {last.segment.head_uuid: last.segment.anchor_uuid}
            found = self._walk_segment(last.segment) or self._walk_through(present, last.segment)
            if found is None:
                return  # the segment is not in the file: remove nothing
            kept = found
            self._relink(last.segment)
            tail = self._last_of(last.segment)
            if tail is not None:
                self.behind = {last.segment.anchor_uuid: tail.uuid}
        before = []
        for uuid in self.heads:
            if uuid == last.uuid:
                break
            before.append(uuid)
        for uuid in before:
            if uuid not in kept:
                del self.heads[uuid]
                self._put_away.add(uuid)
        self.kept = kept

    def _walk_segment(self, segment: PreservedSegment) -> set[str] | None:
        """Return the ids of the segment's messages; None if its tail does not lead to its head."""
        walked: set[str] = set()
        first = self._first_of(segment)
        head = self._last_of(segment)
        while head is not None and head.uuid not in walked:
            walked.add(head.uuid)
            if head.uuid == first:
                return walked
            head = self.parent(head)
        return None

    def _first_of(self, segment: PreservedSegment) -> str:
        """Return the id of the segment's first message, or of its child if its line is damaged."""
        if segment.head_uuid in self.heads:
            return segment.head_uuid
        if any(segment.head_uuid in wreck.names for wreck in self.wrecks):
            passed: set[str] = set()
            head = self._last_of(segment)
            while head is not None and head.uuid not in passed:
                if head.parent == segment.head_uuid:
                    return head.uuid
                passed.add(head.uuid)
                head = self.parent(head)
        return segment.head_uuid

    def _last_of(self, segment: PreservedSegment) -> MessageHead | None:
        """Return the segment's last message, or its nearest ancestor if its line is damaged."""
        last = segment.tail_uuid
        if last not in self.heads:
            last = still_there(self.heads, self._remains(), last) or last
        return self.heads.get(last)

    def _walk_through(
        self, boundaries: list[Boundary], segment: PreservedSegment
    ) -> set[str] | None:
        """Return the ids of a segment that begins among messages an earlier compaction kept.

        For that the earlier compactions are applied. If the segment is not found all the same, the
        parents are set back and None is returned.
        """
        before = {head.uuid: head.parent for head in self.heads.values()}
        for boundary in boundaries[:-1]:
            if boundary.segment is not None and boundary.segment.tail_uuid in self.heads:
                self._relink(boundary.segment)
        found = self._walk_segment(segment)
        if found is None:
            for uuid, parent in before.items():
                self.heads[uuid].parent = parent
        return found

    def _relink(self, segment: PreservedSegment) -> None:
        """Put the segment behind its anchor, and the anchor's other children behind the segment."""
        first = self.heads.get(self._first_of(segment))
        last = self._last_of(segment)
        for head in self.heads.values():
            if head.parent == segment.anchor_uuid and head is not first and last is not None:
                head.parent = last.uuid
        if first is not None:
            first.parent = segment.anchor_uuid
            self.bridged.pop(first.uuid, None)

    def _snip(self) -> None:
        """Remove the snipped messages; their children get the nearest ancestor that is left."""
        parents = {uuid: self.heads.pop(uuid).parent for uuid in self.removed if uuid in self.heads}
        if not parents:
            return
        for head in self.heads.values():
            if head.parent in parents:
                head.parent = self._surviving(head.parent, parents)

    def _surviving(self, uuid: str | None, parents: dict[str, str | None]) -> str | None:
        passed: set[str] = set()
        while uuid is not None and uuid in parents:
            if uuid in passed:
                return None
            passed.add(uuid)
            uuid = parents.get(uuid)
        for each in passed:
            parents[each] = uuid
        return uuid


def tree_of(records: Iterable[Record], *, settled: bool = True) -> TranscriptTree:
    """Return the tree of records given in file order; a head's `offset` is its record's index."""
    tree = TranscriptTree()
    for index, record in enumerate(records):
        tree.add(look_at(record, offset=index))
    return tree.settle() if settled else tree.bridge()
