"""Which snapshots `siding gc --older` may free, and the journal of those that it freed.

The journal is a file of the project, ``freed.jsonl``, with a chain of hashes as a ledger has one,
and an anchor of its own in the snapshot store. A freeing is written here, and anchored, before
anything is deleted. So a line behind the anchor stands for a freeing that was cut off before it
began: it does not count, and the next freeing says that it is void.

::

    {"op": "free", "id": …, "at": …, "older_s": …,
     "tasks": [{"task", "lines", "head", "steps", "patches"}]}
    {"op": "done", "id": …, "at": …, "bytes": …}
    {"op": "void", "ids": […]}

What may be freed: a step stays whole, whatever its age, if it is an apply, or brought a branch in,
because what was applied can be shown and taken back. So does every step that is younger than the
age that was asked for, with all states that it names: the one before it, the one it went back to,
the one an undo of it restores. Of the older steps

* a closed or deleted task keeps the newest state;
* an open task keeps the line, but for what Siding recorded by itself between two steps
  (a checkpoint of changes made outside): the steps before and after it stay. What was left behind
  goes.

The base is no step, so it is never freed. A line of a kind that is not known stays whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, assert_never

from siding.ground.errors import SidingError, UnreadableFile, counted
from siding.ground.files.durable import replace_by_lock
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, whole
from siding.ground.storage.journals import Entry, Journal
from siding.record.ledger.anchor import Anchor, read_anchor
from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
)
from siding.record.ledger.store import breaks, link

JOURNAL_VERSION = 1
ANCHOR_NAME = "freed-head"  # the anchor's file, in messages
OUTSIDE = "outside"  # the origin of a checkpoint that nobody asked for
_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


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
        lines = counted(len(entries), "line")
        return [f"it has {lines}; {anchor.lines} were written, as {ANCHOR_NAME} says"]
    if anchor.lines and link(entries[anchor.lines - 1].raw) != anchor.head:
        return [f"line {anchor.lines} is not the one that was written, as {ANCHOR_NAME} says"]
    return []


def freeable(
    steps: Sequence[Step], *, before: datetime, is_open: bool, lost: int = 0
) -> dict[str, tuple[Step, ...]]:
    """Return the snapshots that may be freed, each with the steps whose state it is.

    `steps` are all of the task's, oldest first; those older than `before` count as old. Steps up to
    number `lost` have no snapshots any more.
    """
    line = present_line(steps).line if is_open else frozenset()
    stays: set[str | None] = {step.snapshot for step in steps[-1:]}
    found: dict[str, list[Step]] = {}
    for step in steps:
        if _stays_whole(step, before):
            stays |= named_in(step.line)
        elif step.number in line and not _is_between(step):
            stays.add(step.snapshot)
        elif step.snapshot and step.number > lost:
            found.setdefault(step.snapshot, []).append(step)
    return {sha: tuple(each) for sha, each in found.items() if sha not in stays}


def freeable_then(steps: Sequence[Step], *, at: str, older_s: float) -> dict[str, tuple[Step, ...]]:
    """Return what a freeing of this time and age may have freed at most; nothing if that time is
    none. `steps` are those of the task at that time.
    """
    try:
        before = datetime.fromisoformat(at) - timedelta(seconds=older_s)
        return freeable(steps, before=before, is_open=False)
    except (ValueError, TypeError, OverflowError):
        return {}


def named_in(value: Any) -> set[str | None]:
    """Return every word in a JSON value that can be the id of an object."""
    return {text for text in _texts(value) if _OBJECT.fullmatch(text)}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        return
    inside: Iterable[Any] = ()
    if isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    for each in inside:
        yield from _texts(each)


def _stays_whole(step: Step, before: datetime) -> bool:
    if _stays_at_any_age(step):
        return True
    try:
        return datetime.fromisoformat(step.ended_at or step.started_at) >= before
    except (ValueError, TypeError):  # TypeError: the time was written without its offset
        return True  # it is not known how old it is


def _stays_at_any_age(step: Step) -> bool:
    match step:
        case ApplyStep() | ApplyUndoStep() | ApplyRedoStep() | MergeStep() | ForeignStep():
            return True
        case RunStep() | TurnStep() | CheckpointStep() | PhaseStep():
            return False
        case RollbackStep() | UndoStep() | RedoStep():
            return False
        case _:
            assert_never(step)


def _is_between(step: Step) -> bool:
    checkpoint = step.as_checkpoint
    return checkpoint is not None and checkpoint.origin == OUTSIDE
