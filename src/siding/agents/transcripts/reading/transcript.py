"""Read a transcript: all of it, or only its live end.

`Transcript.live` starts at the end of the file. It finds the newest compaction and reads only what
was written since (and what the compaction kept). It reads further back only when the chain goes
further back, because somebody continued from a message before the compaction. Only the heads of
messages are read; a record is parsed when it is asked for. So time and memory depend on the size of
the live end, not of the file.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from siding.agents.transcripts.heads import MessageHead, SeenLine, look, parsed, version_of
from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, FORMAT_VERSION, Record
from siding.agents.transcripts.messages import as_said
from siding.agents.transcripts.reading.chains import EndRule, chain_to, choose_end, history
from siding.agents.transcripts.reading.damage import BridgeKind, whole_records, wreck_of
from siding.agents.transcripts.reading.listing import first_prompt
from siding.agents.transcripts.reading.locate import (
    blocks,
    boundaries_backwards,
    lines_from,
    message_before,
    read_at,
)
from siding.agents.transcripts.reading.metadata import TYPES, Metadata
from siding.agents.transcripts.reading.tree import TranscriptTree
from siding.agents.transcripts.reading.views import with_zero_usage
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.errors import NewerVersion
from siding.ground.storage.journals import TOO_LONG, TORN
from siding.ground.storage.lines import lines_forwards

_MOST_SEARCHED_FOR = 8  # missing messages; each search may read the file once


class TranscriptDamage(NamedTuple):
    """A line that could not be read, from byte `offset` to `end`.

    `number` counts from 1; None when reading started in the middle of the file.
    """

    number: int | None
    offset: int
    end: int
    problem: str


class Gap(NamedTuple):
    """A place in a chain where a message is missing, and another parent was found.

    `message` names `missing` as its parent; its parent is now `bridged_to` (None: it is a root).
    `number` (from 1) and `offset` are those of the line of `message`.
    """

    number: int
    offset: int
    message: str
    missing: str
    bridged_to: str | None


class Other(NamedTuple):
    """A line that is not a message: its type, and its bytes in the file without the newline."""

    type: str
    offset: int
    size: int


class Transcript:
    """An open transcript file. After `close` the tree is still there, but no record can be read.

    `start` is the offset of the first byte that was read. `size` is the file's size when it was
    opened; lines added since are not seen. `version` is the newest format version of its lines.
    """

    def __init__(self, path: Path, fd: int, size: int) -> None:
        self.path = path
        self.size = size
        self.start = 0
        self.version = 1
        self.tree = TranscriptTree()
        self.others: list[Other] = []
        self.damage: list[TranscriptDamage] = []
        self._fd = fd

    @classmethod
    def whole(cls, path: Path) -> Self:
        """Open a transcript and read every line. Raises FileNotFoundError or `NotARegularFile`."""
        found = cls._open(path)
        found._scan(0)
        return found

    @classmethod
    def unsettled(cls, path: Path) -> Self:
        """Open a transcript and read every line, without applying its compactions and snips.

        The messages that they take out stay in the tree. Raises as `whole` does.
        """
        found = cls._open(path)
        found._read_from(0)
        found.tree.bridge()
        return found

    @classmethod
    def live(cls, path: Path, rule: EndRule = EndRule.SESSION) -> Self:
        """Open a transcript and read what the live chain needs. Raises as `whole` does."""
        found = cls._open(path)
        boundaries = boundaries_backwards(found._fd, found.size)
        back = 1  # boundaries; doubled each time, so that the file is not read once for each
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
    def _open(cls, path: Path) -> Self:
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
        """Close the file. It can be called again."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()

    def require_known_version(self) -> None:
        """Raise NewerVersion when a newer release wrote to this file.

        Such a file can be read, but not continued.
        """
        if self.version > FORMAT_VERSION:
            raise NewerVersion(self.path, "session", self.version, FORMAT_VERSION)

    def end(self, rule: EndRule = EndRule.SESSION) -> MessageHead | None:
        """Return the message that the conversation ends with, None when there is none."""
        return choose_end(self.tree, rule)

    def chain(self, rule: EndRule = EndRule.SESSION) -> list[MessageHead]:
        """Return the live chain, oldest message first."""
        end = choose_end(self.tree, rule)
        return [] if end is None else chain_to(self.tree, end)

    def shown(self, rule: EndRule = EndRule.SESSION) -> list[MessageHead]:
        """Return the live chain from its newest compaction on, oldest message first.

        The boundary of a compaction may name a parent; `chain` then leads to what was put away. A
        boundary that nothing follows is a compaction that did not happen.
        """
        found = self.chain(rule)
        boundaries = {each.uuid for each in self.tree.boundaries}
        places = (at for at, head in enumerate(found[:-1]) if head.uuid in boundaries)
        return found[max(places, default=0) :]

    def first_prompt(self, shown: list[MessageHead]) -> str:
        """Return the first prompt of what is `shown`, or of what was compacted away before it.

        `NO_PROMPT` if nobody asked anything.
        """
        if not self.is_compacted(shown):
            return first_prompt(self.records(shown))
        with Transcript.unsettled(self.path) as whole:
            return first_prompt(whole.records(whole.history(shown[-1].uuid)))

    def is_compacted(self, shown: list[MessageHead]) -> bool:
        """Return whether what is `shown` begins with the boundary of a compaction."""
        return bool(shown) and any(each.uuid == shown[0].uuid for each in self.tree.boundaries)

    def gaps(self, heads: Iterable[MessageHead]) -> list[Gap]:
        """Return the gaps in a chain of this transcript: places where messages are lost."""
        found = [
            (head, bridge)
            for head in heads
            if (bridge := self.tree.bridged.get(head.uuid)) is not None
            and bridge.how is not BridgeKind.KNOWN
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

    def numbered_damage(self) -> list[TranscriptDamage]:
        """Return the damaged lines found so far, in file order and with their line numbers."""
        numbers = self._line_numbers(each.offset for each in self.damage)
        found = sorted(self.damage, key=lambda each: each.offset)
        return [each._replace(number=numbers[each.offset]) for each in found]

    def history(self, end: str) -> list[MessageHead]:
        """Return everything that was said up to the message `end`; call it after `unsettled`."""
        head = self.tree.heads.get(end)
        return [] if head is None else history(self.tree, head)

    def record(self, head: MessageHead) -> Record | None:
        """Return a message's whole record, with the parent that it has in the tree.

        Returns None, and adds to `damage`, when a part of the line that was skipped is damaged.
        """
        raw = self.raw(head.offset, head.size)
        try:
            record = parsed(raw)
        except NotJson as error:
            found = TranscriptDamage(
                number=None, offset=head.offset, end=head.offset + head.size + 1, problem=str(error)
            )
            if found not in self.damage:
                self.damage.append(found)
            return None
        record["parentUuid"] = self.tree.parent_id(head)
        if head.uuid in self.tree.kept and head.kind == ASSISTANT:
            return with_zero_usage(record)
        return as_said(record) if head.kind == ATTACHMENT else record

    def records(self, heads: Iterable[MessageHead]) -> Iterator[Record]:
        """Yield the records of messages, one at a time, without the damaged ones."""
        for head in heads:
            record = self.record(head)
            if record is not None:
                yield record

    def metadata(self) -> Metadata:
        """Return the metadata of the part that was read; `index` has that of the part before."""
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
                continue  # a damaged line is reported by `damage`, not here
        return metadata

    def raw(self, offset: int, size: int) -> bytes:
        """Return `size` bytes of the file from `offset`."""
        return read_at(self._fd, offset, size)

    def _scan(self, start: int) -> None:
        """Read from `start`, or from the first message that the newest compaction kept."""
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
        self.tree = TranscriptTree()
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
                # A killed writer left its last line without a newline. The next writer adds it, so
                # the line must count (or not) in the same way before and after that.
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
            self._take_parts(raw, offset, number, why)
            return
        self.version = max(self.version, version_of(raw))
        self.tree.add(seen)
        if isinstance(seen, SeenLine) and seen.head is None:
            self.others.append(Other(type=seen.type, offset=offset, size=len(raw)))

    def _take_parts(self, raw: bytes, offset: int, number: int | None, problem: str) -> None:
        """Take the whole messages in a damaged line; what else is in it counts as damaged."""
        done = 0
        for begin, end in whole_records(raw):
            seen = look(raw[begin:end], offset + begin)
            if not isinstance(seen, MessageHead):
                continue  # where the conversation was compacted is searched for by whole lines
            if raw[done:begin].strip():
                self._damaged(raw[done:begin], number, offset + done, offset + begin, problem)
            self.tree.add(seen)
            done = end
        if raw[done:].strip() or not done:
            self._damaged(raw[done:], number, offset + done, offset + len(raw) + 1, problem)

    def _damaged(self, raw: bytes, number: int | None, offset: int, end: int, problem: str) -> None:
        self.damage.append(
            TranscriptDamage(number=number, offset=offset, end=min(end, self.size), problem=problem)
        )
        self.tree.add_wreck(wreck_of(raw, offset))

    def _line_numbers(self, offsets: Iterable[int]) -> dict[int, int]:
        """Return the line number, counted from 1, for each offset at which a line begins."""
        numbers: dict[int, int] = {}
        number = 1
        position = 0
        for offset in sorted(offsets):
            number += sum(block.count(b"\n") for block in blocks(self._fd, position, offset))
            position = offset
            numbers[offset] = number
        return numbers

    def _leads_further_back(self, rule: EndRule) -> bool:
        """Return whether the chain continues before `start`.

        The parent of a message can be further back in the file, so the file is searched for it
        before the parent counts as lost.
        """
        end = choose_end(self.tree, rule)
        if end is None:
            return True
        chain = chain_to(self.tree, end)
        first = chain[0]
        if self.tree.parent_id(first) is not None and self.tree.parent(first) is None:
            return True
        heads = chain if rule is EndRule.SESSION else self.tree.heads.values()
        parents = {head.parent for head in self.tree.missing_parents(heads)} - {None}
        if len(parents) > _MOST_SEARCHED_FOR:
            return True
        return any(message_before(self._fd, str(each), self.start) is not None for each in parents)
