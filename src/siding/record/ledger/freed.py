"""The journal of freed snapshots and patches: of which steps `siding gc --older` freed them, and
when.

It is a file of the project, ``freed.jsonl``, with a chain of hashes as a ledger has one, and an
anchor of its own in the snapshot store. A freeing is written here, and anchored, before anything is
deleted. So a line behind the anchor stands for a freeing that was cut off before it began: it does
not count, and the next freeing says that it is void.

::

    {"op": "free", "id": …, "at": …, "older_s": …,
     "tasks": [{"task", "lines", "head", "steps", "patches"}]}
    {"op": "done", "id": …, "at": …, "bytes": …}
    {"op": "void", "ids": […]}
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.durable import replace_by_lock
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, whole
from siding.ground.storage.journals import Entry, Journal
from siding.record.ledger.anchor import Anchor, read_anchor
from siding.record.ledger.chain import breaks, link

JOURNAL_VERSION = 1
ANCHOR_NAME = "freed-head"  # the anchor's file, in messages


class FreedSteps(NamedTuple):
    """What one freeing freed of one task.

    `steps` are the ids of the steps, by the snapshot that they had. `patches` are the ids of steps
    whose patch was freed. `lines` and `head` say what the ledger was: its number of lines, and the
    hash of the newest one.
    """

    task: str
    lines: int
    head: str
    steps: Mapping[str, tuple[str, ...]]
    patches: tuple[str, ...] = ()

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "FreedSteps":
        named = mapping(record.get("steps"))
        return cls(
            task=text(record.get("task")),
            lines=whole(record.get("lines")),
            head=text(record.get("head")),
            steps={snapshot: strings(steps) for snapshot, steps in named.items()},
            patches=strings(record.get("patches")),
        )

    def as_record(self) -> dict[str, Any]:
        record = self._asdict() | {"steps": {sha: list(ids) for sha, ids in self.steps.items()}}
        del record["patches"]
        return record | ({"patches": list(self.patches)} if self.patches else {})


class Freeing(NamedTuple):
    """One freeing: everything that one command freed. `older_s` is the age that was asked for."""

    id: str
    at: str
    older_s: float
    tasks: tuple[FreedSteps, ...]
    is_done: bool = False  # whether all of it was deleted

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Freeing":
        older = record.get("older_s")
        return cls(
            id=text(record.get("id")),
            at=text(record.get("at")),
            older_s=float(older) if isinstance(older, int | float) else 0.0,
            tasks=tuple(map(FreedSteps.from_record, mappings(record.get("tasks")))),
        )

    def as_record(self) -> dict[str, Any]:
        tasks = [each.as_record() for each in self.tasks]
        return {"id": self.id, "at": self.at, "older_s": self.older_s, "tasks": tasks}


class FreedRecord(NamedTuple):
    """What the journal says.

    `problems` are sentences about what is not as it was written. `void` are freeings that were cut
    off before they began. `lines` is how many lines there are, readable or not.
    """

    freeings: tuple[Freeing, ...] = ()
    problems: tuple[str, ...] = ()
    void: tuple[str, ...] = ()
    lines: int = 0

    @property
    def is_unfinished(self) -> bool:
        """Whether a freeing began and was cut off before all of it was deleted."""
        return any(not freeing.is_done for freeing in self.freeings)

    def of_task(self, task_id: str) -> dict[str, str]:
        """Return when each snapshot of the task was freed, by snapshot."""
        return {
            snapshot: freeing.at
            for freeing in self.freeings
            for each in freeing.tasks
            if each.task == task_id
            for snapshot in each.steps
        }

    def patches_of(self, task_id: str) -> dict[str, str]:
        """Return when the patch of each step of the task was freed, by the step's id."""
        return {
            step: freeing.at
            for freeing in self.freeings
            for each in freeing.tasks
            if each.task == task_id
            for step in each.patches
        }

    def of_all(self) -> dict[str, str]:
        """Return when each snapshot of any task was freed."""
        return {
            snapshot: freeing.at
            for freeing in self.freeings
            for each in freeing.tasks
            for snapshot in each.steps
        }


class FreedJournalDamaged(SidingError):
    """The journal of freed snapshots is not as it was written. Nothing was freed."""

    code = "freed_journal_damaged"


class FreedJournal:
    """The journal and its anchor. Whoever writes holds the lock of the snapshot store."""

    def __init__(self, path: Path, anchor: Path) -> None:
        self._journal = Journal(path)
        self._anchor = anchor

    def read(self) -> FreedRecord:
        """Return what is recorded. Takes no lock; a home without the journal has freed nothing."""
        anchor, damage = self._read_anchor()
        entries = list(self._journal.entries())
        if not entries and anchor is None and not damage:
            return FreedRecord()
        problems = [*_unreadable(entries), *_disagreement(entries, anchor)]
        if damage:
            problems.append(f"{ANCHOR_NAME} cannot be read: {damage}")
        problems += [
            f"line {each.line}: {each.reason}"
            for each in breaks((entry.raw, entry.record) for entry in entries)
        ]
        count = len(entries) if damage else 0 if anchor is None else anchor.lines
        freeings = _freeings(entries[:count])
        behind = _freeings(entries[count:])
        return FreedRecord(
            freeings=freeings,
            problems=tuple(problems),
            void=tuple(each.id for each in behind),
            lines=len(entries),
        )

    def begin(self, freeing: Freeing) -> None:
        """Record a freeing; when this returns, it survives a power cut and counts.

        Raises FreedJournalDamaged, and OSError; then nothing counts.
        """
        self._journal.close_last_line()
        record = self.read()
        if record.problems:
            raise FreedJournalDamaged(
                f"the journal of freed snapshots is not as it was written: {record.problems[0]}",
                hint="nothing was freed; `siding verify` says more",
            )
        if record.void:
            self._append({"op": "void", "ids": list(record.void)})
        self._append({"op": "free", **freeing.as_record()})
        self._put_anchor()

    def end(self, ids: Sequence[str], *, at: str, freed: int) -> None:
        """Record that everything of these freeings was deleted: `freed` bytes of the store."""
        for each in ids:
            self._append({"op": "done", "id": each, "at": at, "bytes": freed})
        self._put_anchor()

    def _append(self, fields: Mapping[str, Any]) -> None:
        self._journal.append_built(
            lambda before: {"v": JOURNAL_VERSION, **fields, "prev": link(before)}
        )

    def _put_anchor(self) -> None:
        entries = list(self._journal.entries())
        last = entries[-1]
        anchor = Anchor(len(entries), last.end, link(last.raw))
        replace_by_lock(self._anchor, anchor.encoded())

    def _read_anchor(self) -> tuple[Anchor | None, str]:
        try:
            return read_anchor(self._anchor), ""
        except UnreadableFile as error:
            return None, error.message


def _freeings(entries: Iterable[Entry]) -> tuple[Freeing, ...]:
    found: dict[str, Freeing] = {}
    for entry in entries:
        record = entry.record or {}
        match record.get("op"):
            case "free":
                freeing = Freeing.from_record(record)
                found[freeing.id] = freeing
            case "done" if (named := text(record.get("id"))) in found:
                found[named] = found[named]._replace(is_done=True)
            case "void":
                for named in strings(record.get("ids")):
                    found.pop(named, None)
    return tuple(found.values())


def _unreadable(entries: Sequence[Entry]) -> list[str]:
    """Return the lines that cannot be read; a torn last one is that of a writer that was killed."""
    return [
        f"line {entry.number} cannot be read: {entry.problem}"
        for entry in entries
        if entry.problem is not None and not entry.problem.startswith("torn")
    ]


def _disagreement(entries: Sequence[Entry], anchor: Anchor | None) -> list[str]:
    if anchor is None:
        return []
    if len(entries) < anchor.lines:
        return [f"it has {len(entries)} lines; {anchor.lines} were written, as {ANCHOR_NAME} says"]
    if anchor.lines and link(entries[anchor.lines - 1].raw) != anchor.head:
        return [f"line {anchor.lines} is not the one that was written, as {ANCHOR_NAME} says"]
    return []
