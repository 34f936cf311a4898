"""What a task's document and ledger say for the feed, besides the row of its list.

It is in the cache of the rows (`board.py`), with the figures of what an apply would bring: these
cost a start of git, and never change for the same two snapshots.
"""

import os
from collections.abc import Mapping
from typing import Any

from siding.asking.views import InboxEntry, Waits, entry, step_entry
from siding.feed.board import TaskCache, TaskRow, read_entry
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text, whole
from siding.record.ledger.step import Step
from siding.record.ledger.store import Ledger
from siding.record.ledger.unapplied import unapplied
from siding.record.place.project import Project
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

_OF_PROJECT = ("project", "repo_root", "project_dir")
_FIGURES = "figures"
_LATER = ("id", "active", "running", "blocked", "workspace")  # of a row; not recorded
_NUMBERS = ("steps", "files", "additions", "deletions")
_RECORDED = {
    name: int if name in _NUMBERS else list if name in ("tags", "blocked_by") else str
    for name in TaskRow._fields
    if name not in _LATER
}


class Figures(NamedTuple):
    """The figures of a difference between two snapshots."""

    files: int
    additions: int
    deletions: int


class TaskWork(NamedTuple):
    """How a task stands by its newest steps.

    `ask` is what its last step needs a person for, None for nothing.
    """

    closed_at: str  # ISO 8601; "" while it is open
    unapplied: int  # steps that changed something that is not applied
    since: str  # the snapshot that was applied last, "" for none
    tip: str  # the newest snapshot, "" for none
    ask: InboxEntry | None
    parent: str = ""  # of a fork: the task that it was made of

    @property
    def is_in_conflict(self) -> bool:
        """Whether the last step left conflicts in the workspace: an apply would be refused."""
        return self.ask is not None and self.ask.kind == Waits.CONFLICT


class WorkCache(TaskCache):
    """The cache of rows, with the work of each task."""

    def __init__(self, project: Project, *, known: Mapping[str, Any] | None = None) -> None:
        self._of_project = entry(project, kind=Waits.FAILED, **_NOTHING)
        self._forks: dict[TaskId, str] = {}  # their names
        super().__init__(project, known=known, more=self._read)

    def work(self, task_id: TaskId, found: Mapping[str, Any]) -> TaskWork:
        """Return the work in an entry. Raises LookupError or TypeError for a damaged one."""
        more, row = mapping(found["more"]), found["row"]
        if not all(isinstance(row[name], kind) for name, kind in _RECORDED.items()):
            raise TypeError(task_id)
        ask = mapping(more.get("ask"))
        return TaskWork(
            closed_at=text(more["closed_at"]),
            unapplied=whole(more["unapplied"]),
            since=text(more["since"]),
            tip=text(more["tip"]),
            parent=text(more["parent"]),
            ask=self._ask(task_id, found["row"]["name"], ask) if ask else None,
        )

    def figures(self, task_id: TaskId, since: str, tip: str) -> Figures | None:
        """Return the figures between two snapshots, if they are known."""
        known = mapping(mapping((self._fresh.get(task_id) or {}).get("more")).get(_FIGURES))
        if (known.get("since"), known.get("tip")) != (since, tip):
            return None
        return Figures(*(whole(known.get(name)) for name in Figures._fields))

    def note_figures(self, task_id: TaskId, since: str, tip: str, figures: Figures) -> None:
        """Keep the figures between two snapshots."""
        found = self._fresh.get(task_id)
        if found is not None:
            noted = {"since": since, "tip": tip, **figures._asdict()}
            self._fresh[task_id] = {**found, "more": {**found["more"], _FIGURES: noted}}

    def name_of(self, task_id: TaskId) -> str:
        """Return the name of a task, as far as it is known."""
        found = mapping(self._fresh.get(task_id) or self._known.get(task_id))
        return self._forks.get(task_id) or text(mapping(found.get("row")).get("name"))

    def fork_entry(self, task_id: TaskId) -> dict[str, Any] | None:
        """Return the entry of a fork, which is read each time and not kept on the disk."""
        found = read_entry(self.project, task_id, [], self._read)
        if found is not None:
            self._forks[task_id] = found["row"]["name"]
        return found

    def is_there(self, task_id: TaskId) -> bool:
        """Tell whether a task has a document, readable or not."""
        return os.path.lexists(self.project.task_layout(task_id).task_json)

    def has_changed(self, task_id: TaskId) -> bool:
        """Tell whether the document or the ledger of a task is another one than was read."""
        before = self._fresh.get(task_id)
        return self.entry(task_id) is not before

    def forget(self, task_id: TaskId) -> None:
        """Forget a task whose entry is damaged."""
        self._fresh.pop(task_id, None)
        self._known = {each: it for each, it in self._known.items() if each != task_id}

    def forget_others(self, ids: "frozenset[TaskId]") -> None:
        """Forget the tasks that are not among these."""
        self._fresh = {each: it for each, it in self._fresh.items() if each in ids}

    @property
    def unsaved(self) -> int:
        """How many entries are not on the disk as they are here."""
        return sum(self._known.get(each) is not it for each, it in self._fresh.items())

    def _read(self, task: Task, ledger: Ledger) -> dict[str, Any]:
        found = unapplied(ledger)
        last = found.last
        ask = None if last is None else self._needs(task, ledger, last)
        asked = {} if ask is None else ask._asdict()
        return {
            "closed_at": task.closed_at or "",
            "unapplied": found.steps,
            "since": found.since,
            "tip": (last.snapshot or "") if last else "",
            "parent": text(mapping(task.rest.get("fork")).get("parent")),
            # Names and paths of the project may be others by the time that this is read.
            "ask": {name: value for name, value in asked.items() if name not in _OF_PROJECT},
        }

    def _needs(self, task: Task, ledger: Ledger, last: Step) -> InboxEntry | None:
        """Return what the last step needs a person for. A conflict to which an undo or a redo went
        is one again."""
        found = step_entry(self.project, task.id, task.name, last)
        at: Step | None = last
        while found is None and at is not None and (gone := _gone_to(at)).isdecimal():
            if int(gone) >= at.number:  # a ledger that was changed by hand: it leads nowhere
                break
            at = ledger.find(int(gone))
            if at is not None and at.merged is not None and at.merged.conflicts:
                found = step_entry(self.project, task.id, task.name, at)
        return found

    def _ask(self, task_id: TaskId, name: str, said: Mapping[str, Any]) -> InboxEntry:
        fields = {each: text(said.get(each)) for each in InboxEntry._fields}
        kept = {each: getattr(self._of_project, each) for each in _OF_PROJECT}
        return InboxEntry(**{**fields, **kept, "task_id": task_id, "task_name": name})


def _gone_to(step: Step) -> str:
    """Return the step whose state a step went back to; "" if it did not, or that is not known."""
    back = step.as_rollback
    if back is None or not step.goes_back:
        return ""
    return step.on if step.took_all_parts else back.target_step or ""


_NOTHING = dict.fromkeys(("title", "detail", "since", "command", "page"), "")


def counted(project: Project, workspace: Workspace, since: str, tip: str) -> Figures | None:
    """Count what a task changed between two snapshots; None if that cannot be told.

    Starts git once.
    """
    try:
        stat = TaskSnapshots(project, workspace).diff_stat(since, tip)
    except SidingError:  # the snapshots are gone; `siding verify` reports that
        return None
    return Figures(stat.files, stat.additions, stat.deletions)
