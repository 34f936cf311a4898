"""Read what retention has to know of each task that has snapshots: its steps, and what names them.

A task whose record is not whole is left alone: what its steps are is then not known for sure.
"""

import os
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.journals import Journal
from siding.record.files.displaced import DISPLACED, read_names
from siding.record.ledger.freed import named_in
from siding.record.ledger.intents import Intents
from siding.record.ledger.step import Step, step_from
from siding.record.ledger.store import breaks
from siding.record.place.project import Project
from siding.record.recording.beside import (
    BesideTurn,
    checkout_ids,
    freeable_turns,
    journal_of,
    turns_in,
)
from siding.record.recording.verify_anchor import disagreement
from siding.record.snapshots.task_line import base_snapshots
from siding.record.tasks.slots import is_slot, is_view
from siding.record.tasks.task import TaskState
from siding.record.workspaces.archives import member_of, places_in_trash
from siding.tasks.reopen import Gone, deleted_tasks

CHECKOUT = "checkout"  # in the place of the state of a task
_LEDGER = "task/ledger.jsonl"  # of a deleted task, in its place in the trash


class RecordedTask(NamedTuple):
    """A task with snapshots. `state` is open, closed or deleted; of a checkout, checkout.

    `lines` and `head` say what the ledger is now. `named` are objects that something other than the
    ledger names: the registry, an act in progress, a base. `alone` says why the task has to be left
    alone; "" if it need not. Steps up to number `lost` have lost their snapshots.
    """

    id: TaskId
    name: str
    state: str
    steps: tuple[Step, ...] = ()
    lines: int = 0
    head: str = ""
    named: frozenset[str | None] = frozenset()
    lost: int = 0
    alone: str = ""

    @property
    def never(self) -> frozenset[str | None]:
        """What can never have been freed: what is named beside the ledger, and the newest state."""
        return self.named | {step.snapshot for step in self.steps[-1:]}


def recorded_tasks(project: Project) -> list[RecordedTask]:
    """Return every task that has a snapshot, on the board or deleted; checkouts are none."""
    if not project.snapshots.root.is_dir():
        return []
    gone = {each.id: each for each in deleted_tasks(project)}
    there = {*project.tasks.ids(), *project.tasks.fork_ids()}
    checkouts = set(checkout_ids(project))
    return [
        _on_board(project, task_id) if task_id in there else _deleted(project, task_id, gone)
        for task_id in project.snapshots.tasks()
        if task_id in there or not (task_id in checkouts or _is_of_pool(task_id))
    ]


def _is_of_pool(task_id: TaskId) -> bool:
    """Tell whether a part of the snapshot store is that of a worktree of the pool, or of a view."""
    return is_slot(task_id) or is_view(task_id)


class RecordedCheckout(NamedTuple):
    """The turns beside a branch in one checkout: their snapshots lie in the store, too.

    `record` is what a task would have in its place. The newest snapshot is named: the next one is
    compared with it.
    """

    record: RecordedTask
    turns: tuple[BesideTurn, ...]

    def freeable(self, before: datetime) -> dict[str, tuple[str, ...]]:
        """Return the snapshots that may be freed, each with the numbers of its turns."""
        return freeable_turns(self.turns, before=before, named=self.record.named)


def recorded_checkouts(project: Project) -> list[RecordedCheckout]:
    """Return every checkout in which turns were kept."""
    if not project.snapshots.root.is_dir():
        return []
    there = set(project.snapshots.tasks())
    return [_checkout(project, each) for each in checkout_ids(project) if each in there]


def _checkout(project: Project, checkout: TaskId) -> RecordedCheckout:
    journal = journal_of(project, checkout)
    lines = [entry.raw for entry in journal.entries()]
    turns = tuple(turns_in(journal))
    named: set[str | None] = set(base_snapshots(project.snapshots, checkout))
    record = RecordedTask(
        id=checkout,
        name=next((each.root for each in reversed(turns) if each.root), ""),
        state=CHECKOUT,
        lines=len(lines),
        head=sha256_hex(lines[-1]) if lines else "",
        named=frozenset({*named, project.snapshots.tip(checkout)}),
    )
    return RecordedCheckout(record, turns)


def displaced_blobs(project: Project) -> set[str]:
    """Return the contents of displaced files that are still there, as their lists name them.

    Whether such a file may be deleted is asked of the snapshots, so they keep its content.
    """
    found: set[str] = set()
    for _task_id, place in displaced_places(project):
        there = {name.partition(b".")[0] for name in os.listdir(os.fsencode(place))}
        for listed in read_names(place).values():
            if listed.entry in there:
                found |= {sha for sha in (listed.sha, listed.new_sha) if sha.strip("0")}
    return found


def _on_board(project: Project, task_id: TaskId) -> RecordedTask:
    layout = project.task_layout(task_id)
    try:
        task = project.tasks.load(task_id)
        state = "closed" if task.status is TaskState.CLOSED else "open"
        found = RecordedTask(id=task_id, name=task.name, state=state)
        lines = [entry.raw for entry in Journal(layout.ledger_jsonl).entries()]
        found = _with_steps(project, found, lines)
        found = found._replace(alone=found.alone or disagreement(project, task) or "")
        intents = [intent.as_record() for intent in Intents(layout).all()]
    except (SidingError, OSError) as error:
        return RecordedTask(id=task_id, name="", state="open", alone=str(error))
    return found._replace(named=found.named | named_in(intents))


def _deleted(project: Project, task_id: TaskId, gone: dict[TaskId, Gone]) -> RecordedTask:
    known = gone.get(task_id)
    found = RecordedTask(id=task_id, name=known.name if known else "", state="deleted")
    if known is None:
        return found._replace(alone="its records are nowhere")
    try:
        data = _deleted_ledger(known)
    except OSError as error:
        return found._replace(alone=error.strerror or str(error))
    return _with_steps(project, found, data.split(b"\n")[:-1])


def _deleted_ledger(gone: Gone) -> bytes:
    path = gone.trash / _LEDGER
    if path.is_file() or gone.archive is None:
        return Path(path).read_bytes()
    return member_of(gone.archive, f"{gone.trash.name}/{_LEDGER}")


def _with_steps(project: Project, found: RecordedTask, lines: Iterable[bytes]) -> RecordedTask:
    raw = [line for line in lines if line.strip()]
    read = [(line, _record(line)) for line in raw]
    workspace = project.registry.of_task(found.id)
    named: set[str | None] = set(base_snapshots(project.snapshots, found.id))
    if workspace is not None:
        named |= named_in(workspace._asdict())
    steps = [_step(record) for _line, record in read]
    alone = "a line of its ledger cannot be read" if None in steps else ""
    if broken := breaks(read):
        alone = f"line {broken[0].line} of its ledger: {broken[0].reason}"
    return found._replace(
        steps=tuple(step for step in steps if step is not None),
        lines=len(raw),
        head=sha256_hex(raw[-1]) if raw else "",
        named=frozenset(named),
        lost=0 if workspace is None else workspace.lost_until,
        alone=alone,
    )


def _record(line: bytes) -> dict[str, object] | None:
    try:
        return parse_object(line)
    except NotJson:
        return None


def _step(record: dict[str, object] | None) -> Step | None:
    try:
        return None if record is None else step_from(record)
    except ValueError:
        return None


def displaced_places(project: Project) -> Iterator[tuple[TaskId, Path]]:
    """Yield the directories of displaced files, and their tasks."""
    for task_id in project.tasks.ids():
        for place in places_in_trash(project, task_id):
            if (place / DISPLACED).is_dir():
                yield task_id, place / DISPLACED
