"""Read a transcript: all of it, or only its live end.

`Transcript.live` begins at the end of the file. It looks for the newest compaction, reads only what
was written from there on (and what the compaction kept), and goes further back only when the
chain does: when somebody went on from a message before the compaction. Messages are looked at
(`heads`), not parsed; a record is parsed when it is asked for. So time and memory follow the live
end, not the file.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from siding.files.regular import open_with_stat
from siding.sessions.bridging import How
from siding.sessions.chains import Rule, chain_to, choose_end, history
from siding.sessions.heads import Head, Seen, look, parsed, version_of
from siding.sessions.kinds import ASSISTANT, FORMAT_VERSION, Record
from siding.sessions.locate import (
    blocks,
    boundaries_backwards,
    lines_from,
    message_before,
    read_at,
)
from siding.sessions.metadata import TYPES, Metadata
from siding.sessions.tree import Tree
from siding.sessions.views import with_zero_usage
from siding.sessions.wrecks import wreck_of
from siding.storage.codec import NotJson
from siding.storage.errors import NewerVersion
from siding.storage.journals import TOO_LONG, TORN
from siding.storage.lines import lines_forwards

_MOST_SEARCHED_FOR = 8  # missing messages; each search may read the file once


class Damage(NamedTuple):
    """A line that could not be read. `number` is None when the reading began in mid file."""

    number: int | None
    offset: int
    end: int
    problem: str


class Gap(NamedTuple):
    """A place in a chain where a message is missing and what came before was found all the same.

    `message` names `missing` as the one before it and was hung on `bridged_to` instead (None: on
    nothing, it is the first one). `number` and `offset` say where the line of `message` is.
    """

    number: int
    offset: int
    message: str
    missing: str
    bridged_to: str | None


class Other(NamedTuple):
    """A line that is no message: its type and where it is."""

    type: str
    offset: int
    size: int


class Transcript:
    """An open transcript file. Closing it frees the file; what was read stays.

    `start` is the first byte that was read; `size` the file's when it was opened. A file that
    grows meanwhile is seen as it was. `version` is the newest format a line of ours was written in.
    """

    def __init__(self, path: Path, fd: int, size: int) -> None:
        self.path = path
        self.size = size
        self.start = 0
        self.version = 1
        self.tree = Tree()
        self.others: list[Other] = []
        self.damage: list[Damage] = []
        self._fd = fd

    @classmethod
    def whole(cls, path: Path) -> Self:
        """Look at every line. Raises FileNotFoundError or `NotARegularFile`."""
        found = cls._opened(path)
        found._scan(0)
        return found

    @classmethod
    def unsettled(cls, path: Path) -> Self:
        """Look at every line, and leave in the tree what compactions and snips take out of it."""
        found = cls._opened(path)
        found._read_from(0)
        found.tree.bridge()
        return found

    @classmethod
    def live(cls, path: Path, rule: Rule = Rule.SESSION) -> Self:
        """Look at the lines the live chain needs. Raises as `whole` does."""
        found = cls._opened(path)
        boundaries = boundaries_backwards(found._fd, found.size)
        back = 1
        while True:
            start = 0
            for _ in range(back):
                start = next(boundaries, 0)
                if start == 0:
                    break
            found._scan(start)
            if start == 0 or not found._leads_further_back(rule):
                return found
            back *= 2

    @classmethod
    def _opened(cls, path: Path) -> Self:
        fd, status = open_with_stat(path)
        return cls(path, fd, status.st_size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()

    def require_known_version(self) -> None:
        """Raise NewerVersion when a newer release wrote here: its lines are read, not written."""
        if self.version > FORMAT_VERSION:
            raise NewerVersion(self.path, "session", self.version, FORMAT_VERSION)

    def end(self, rule: Rule = Rule.SESSION) -> Head | None:
        """Return the message the conversation ends with."""
        return choose_end(self.tree, rule)

    def chain(self, rule: Rule = Rule.SESSION) -> list[Head]:
        """Return the live chain, oldest message first."""
        end = choose_end(self.tree, rule)
        return [] if end is None else chain_to(self.tree, end)

    def gaps(self, heads: Iterable[Head]) -> list[Gap]:
        """Return where messages are missing in a chain of this transcript."""
        found = [
            (head, bridge)
            for head in heads
            if (bridge := self.tree.bridged.get(head.uuid)) is not None
            and bridge.how is not How.KNOWN
        ]
        numbers = self._line_numbers(head.offset for head, _ in found)
        return [
            Gap(
                number=numbers[head.offset],
                offset=head.offset,
                message=head.uuid,
                missing=bridge.missing,
                bridged_to=bridge.to,
            )
            for head, bridge in found
        ]

    def numbered_damage(self) -> list[Damage]:
        """Return the damage found so far in file order, with the numbers of its lines."""
        numbers = self._line_numbers(each.offset for each in self.damage)
        found = sorted(self.damage, key=lambda each: each.offset)
        return [each._replace(number=numbers[each.offset]) for each in found]

    def history(self, end: str) -> list[Head]:
        """Return all that was said on the way to a message; for an unsettled transcript."""
        head = self.tree.heads.get(end)
        return [] if head is None else history(self.tree, head)

    def record(self, head: Head) -> Record | None:
        """Return a message's whole record, its parent as the tree has it.

        None when its line is damaged where nobody had looked; it is then added to `damage`.
        """
        raw = self.raw(head.offset, head.size)
        try:
            record = parsed(raw)
        except NotJson as error:
            found = Damage(
                number=None, offset=head.offset, end=head.offset + head.size + 1, problem=str(error)
            )
            if found not in self.damage:
                self.damage.append(found)
            return None
        record["parentUuid"] = self.tree.parent_id(head)
        if head.uuid in self.tree.kept and head.kind == ASSISTANT:
            return with_zero_usage(record)
        return record

    def records(self, heads: Iterable[Head]) -> Iterator[Record]:
        """Yield the records of messages, one at a time, without the damaged ones."""
        for head in heads:
            record = self.record(head)
            if record is not None:
                yield record

    def metadata(self) -> Metadata:
        """Return the metadata in what was read (see `index` for what lies before it)."""
        metadata = Metadata()
        boundaries = {each.uuid for each in self.tree.boundaries}
        marks = sorted(
            [*self.others]
            + [
                Other(type="system", offset=head.offset, size=head.size)
                for uuid in boundaries
                if (head := self.tree.heads.get(uuid)) is not None
            ],
            key=lambda each: each.offset,
        )
        for each in marks:
            if each.type not in TYPES and each.type != "system":
                continue
            try:
                metadata.add(parsed(self.raw(each.offset, each.size)))
            except NotJson:
                continue  # counted as damage by who looks for it
        return metadata

    def raw(self, offset: int, size: int) -> bytes:
        """Return bytes of the file."""
        return read_at(self._fd, offset, size)

    def _scan(self, start: int) -> None:
        """Read from `start` on, or from where what the newest compaction kept begins."""
        self._read_from(start)
        last = self.tree.boundaries[-1] if self.tree.boundaries else None
        if start > 0 and last is not None and last.segment is not None:
            head = last.segment.head_uuid
            if head not in self.tree.heads:
                before = message_before(self._fd, head, start)
                if before is not None:
                    self._read_from(before)
        self.tree.settle()

    def _read_from(self, start: int) -> None:
        self.start = start
        self.tree = Tree()
        self.others = []
        self.damage = []
        number = 1 if start == 0 else None
        while start < self.size:
            for offset, lines in lines_from(self._fd, start, self.size):
                start = offset
                for raw in lines:
                    if raw and not raw.isspace():
                        self._take(raw, start, number)
                    start += len(raw) + 1
                    number = number and number + 1
            rest = next(lines_forwards(self._fd, start), None)
            if rest is None or rest.offset >= self.size:
                return
            if rest.is_too_long:
                self._damaged(rest.raw, number, rest.offset, rest.end, TOO_LONG)
            else:
                # A writer that was killed left its last line without an end. The next writer ends
                # it, so whether it counts must not depend on whether there was one already.
                self._take(rest.raw, rest.offset, number, problem=TORN)
            start = rest.end
            number = number and number + 1

    def _take(
        self, raw: bytes, offset: int, number: int | None, *, problem: str | None = None
    ) -> None:
        try:
            seen = look(raw, offset)
        except NotJson as error:
            why = problem or (TORN if error.is_cut_off else str(error))
            self._damaged(raw, number, offset, offset + len(raw) + 1, why)
            return
        self.version = max(self.version, version_of(raw))
        self.tree.add(seen)
        if isinstance(seen, Seen) and seen.head is None:
            self.others.append(Other(type=seen.type, offset=offset, size=len(raw)))

    def _damaged(self, raw: bytes, number: int | None, offset: int, end: int, problem: str) -> None:
        self.damage.append(
            Damage(number=number, offset=offset, end=min(end, self.size), problem=problem)
        )
        self.tree.add_wreck(wreck_of(raw, offset))

    def _line_numbers(self, offsets: Iterable[int]) -> dict[int, int]:
        """Return the numbers, from 1, of the lines that begin at the offsets."""
        numbers: dict[int, int] = {}
        number = 1
        position = 0
        for offset in sorted(offsets):
            number += sum(block.count(b"\n") for block in blocks(self._fd, position, offset))
            position = offset
            numbers[offset] = number
        return numbers

    def _leads_further_back(self, rule: Rule) -> bool:
        """Whether the chain goes on before what was read.

        A message whose parent is missing here may have it further back: the file is searched for it
        before the message is taken for one that lost its parent.
        """
        end = choose_end(self.tree, rule)
        if end is None:
            return True
        chain = chain_to(self.tree, end)
        first = chain[0]
        if self.tree.parent_id(first) is not None and self.tree.parent(first) is None:
            return True
        heads = chain if rule is Rule.SESSION else self.tree.heads.values()
        parents = {head.parent for head in self.tree.missing_parents(heads)} - {None}
        if len(parents) > _MOST_SEARCHED_FOR:
            return True
        return any(message_before(self._fd, str(each), self.start) is not None for each in parents)
