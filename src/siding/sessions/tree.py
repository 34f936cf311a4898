"""The messages of a transcript and their parents, as the lines of the file leave them.

Built in file order; then `settled`: what the newest compaction keeps is put behind its boundary,
and what was snipped is taken out. A message given twice keeps its first place with its last value.
"""

from collections.abc import Iterable
from typing import NamedTuple

from siding.sessions.heads import Head, Seen, look_at
from siding.sessions.kinds import PreservedSegment, Record


class Boundary(NamedTuple):
    """A compaction: its line's message, what it keeps of the messages before it, and the message
    that was the last one when it was made.
    """

    uuid: str
    segment: PreservedSegment | None
    before: str | None = None


class Tree:
    """Messages by uuid, in file order. `kept` are those a compaction preserved: their usage was
    counted before it and must read as zero. `behind` says what follows a message although it was
    written before it: the last of the kept ones, behind the one they were put behind.
    """

    __slots__ = ("behind", "boundaries", "bridges", "heads", "kept", "removed")

    def __init__(self) -> None:
        self.heads: dict[str, Head] = {}
        self.boundaries: list[Boundary] = []
        self.bridges: dict[str, str | None] = {}
        self.removed: set[str] = set()
        self.kept: set[str] = set()
        self.behind: dict[str, str] = {}

    def add(self, seen: Head | Seen) -> None:
        """Take the next line of the file."""
        if isinstance(seen, Head):
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
            self.heads.pop(seen.withdrawn, None)

    def _add_head(self, head: Head) -> None:
        if self.bridges and head.parent in self.bridges:
            head.parent = self.bridges[head.parent]
        self.heads[head.uuid] = head

    def settle(self) -> "Tree":
        """Apply the newest compaction and all snips; return the tree itself."""
        self._keep_segment()
        self._snip()
        return self

    def parent(self, head: Head) -> Head | None:
        """Return the message before this one, None at a root or where the parent is missing."""
        return self.heads.get(head.parent) if head.parent is not None else None

    def unfinished(self) -> set[str]:
        """Return the boundaries nothing was written behind: their summaries were not stored."""
        parents = {head.parent for head in self.heads.values()}
        return {each.uuid for each in self.boundaries} - parents

    def _keep_segment(self) -> None:
        present = [each for each in self.boundaries if each.uuid in self.heads]
        if not any(each.segment for each in present):
            return
        last = present[-1]
        kept: set[str] = set()
        if last.segment is not None:
            found = self._walk_segment(last.segment) or self._walk_through(present, last.segment)
            if found is None:
                return  # what it names is not there: the old history stays as it was
            kept = found
            self._relink(last.segment)
            self.behind = {last.segment.anchor_uuid: last.segment.tail_uuid}
        before = []
        for uuid in self.heads:
            if uuid == last.uuid:
                break
            before.append(uuid)
        for uuid in before:
            if uuid not in kept:
                del self.heads[uuid]
        self.kept = kept

    def _walk_segment(self, segment: PreservedSegment) -> set[str] | None:
        walked: set[str] = set()
        head = self.heads.get(segment.tail_uuid)
        while head is not None and head.uuid not in walked:
            walked.add(head.uuid)
            if head.uuid == segment.head_uuid:
                return walked
            head = self.parent(head)
        return None

    def _walk_through(
        self, boundaries: list[Boundary], segment: PreservedSegment
    ) -> set[str] | None:
        """Walk a segment that begins in what an earlier compaction kept; else change nothing."""
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
        for head in self.heads.values():
            if head.parent == segment.anchor_uuid and head.uuid != segment.head_uuid:
                head.parent = segment.tail_uuid
        first = self.heads.get(segment.head_uuid)
        if first is not None:
            first.parent = segment.anchor_uuid

    def _snip(self) -> None:
        parents = {uuid: self.heads.pop(uuid).parent for uuid in self.removed if uuid in self.heads}
        if not parents:
            return
        for head in self.heads.values():
            if head.parent in self.removed:
                head.parent = self._surviving(head.parent, parents)

    def _surviving(self, uuid: str | None, parents: dict[str, str | None]) -> str | None:
        passed: set[str] = set()
        while uuid is not None and uuid in self.removed:
            if uuid in passed:
                return None
            passed.add(uuid)
            uuid = parents.get(uuid)
        for each in passed:
            parents[each] = uuid
        return uuid


def tree_of(records: Iterable[Record], *, settled: bool = True) -> Tree:
    """Return the tree of records in file order; `Head.offset` is a record's index."""
    tree = Tree()
    for index, record in enumerate(records):
        tree.add(look_at(record, offset=index))
    return tree.settle() if settled else tree
