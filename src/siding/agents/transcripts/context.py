"""What a model sees of a conversation, kept up to date as messages are added.

To make it of all messages takes longer the more there are. Up to the newest answer nothing can
change any more but by a compaction, a replacement or a withdrawal, so that part is made once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from siding.agents.transcripts.kinds import ASSISTANT, Record
from siding.agents.transcripts.messages import content_of, is_boundary, message_id
from siding.agents.transcripts.reading.views import active, alternating
from siding.ground.namedtuples import NamedTuple


class Spoken(NamedTuple):
    """A message as a model takes it. `kept` is what its provider wants back as it gave it."""

    role: str
    content: Any
    kept: Mapping[str, Any]


class Context:
    """The messages since the newest compaction, and what a model sees of them."""

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
