"""Bring in tasks, and report what was brought in. Where each came from is in its metadata, by which
it is found again."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.events import TaskChanged
from siding.record.place.project import Project
from siding.record.tasks.matching import IMPORTED
from siding.record.tasks.task import Task, TaskState
from siding.tasks.start import default_base, fresh_id


class Provenance(NamedTuple):
    """Where a task came from: the kind of source, its place, and the task's id there."""

    form: str
    place: str
    id: str


class NewTask(NamedTuple):
    """A task to bring in. Times are ISO 8601, "" for now."""

    provenance: Provenance
    name: str
    status: TaskState
    description: str = ""
    owner: str = ""
    created_at: str = ""
    updated_at: str = ""
    rest: Mapping[str, Any] = {}


def imported_tasks(project: Project) -> dict[Provenance, TaskId]:
    """Return the tasks that were imported before, by where they came from."""
    found = {}
    for task in project.tasks.readable():
        mark = task.metadata.get(IMPORTED)
        if isinstance(mark, dict):
            provenance = Provenance(*(str(mark.get(key, "")) for key in ("from", "place", "id")))
            found[provenance] = task.id
    return found


def new_ids(project: Project, count: int) -> list[TaskId]:
    """Return that many ids that no task has."""
    found: list[TaskId] = []
    while len(found) < count:
        task_id = fresh_id(project)
        if task_id not in found:
            found.append(task_id)
    return found


def save_new(
    project: Project, task_id: TaskId, new: NewTask, blocked_by: tuple[TaskId, ...] = ()
) -> Task:
    """Put a task on the board, and return it."""
    now = project.app.now()
    origin = {"from": new.provenance.form, **new.provenance._asdict(), **new.rest}
    del origin["form"]
    description = {"description": new.description} if new.description else {}
    with project.changing("importing a task"):
        task = Task(
            id=task_id,
            name=project.redaction.text(new.name),
            repo_root=str(project.paths.root),
            base_ref=default_base(project),
            base_commit=Sha(""),
            branch="",
            workspace_path="",
            status=new.status,
            created_at=new.created_at or now,
            updated_at=new.updated_at or now,
            closed_at=(new.updated_at or now) if new.status is TaskState.CLOSED else None,
            owner=project.redaction.text(new.owner),
            blocked_by=blocked_by,
            worktree="",
            metadata=project.redaction.record({**description, IMPORTED: origin}),
            start={},
            rest={},
        )
        project.tasks.save(task)
    project.events.emit(TaskChanged(task, "created"))
    return task


class Fate(StrEnum):
    """What becomes of one thing of a source."""

    NEW = "new"
    MOVED_ON = "moved on"  # it was there, and the source has more of it now
    THERE = "there"
    LEFT = "left"


class Item(NamedTuple):
    """One thing of the source. `id` is what it has here, if it has an id; `note` is a phrase."""

    kind: str  # task, worktree, decision, phases, events
    name: str
    fate: Fate
    id: str = ""
    note: str = ""


class ImportReport(NamedTuple):
    """All things of a source, and a sentence for each that could not be read or brought in."""

    items: tuple[Item, ...]
    problems: tuple[str, ...]

    def count(self, fate: Fate, kind: str = "") -> int:
        """Return how many things have this fate, of one kind or of all."""
        return sum(each.fate is fate and kind in ("", each.kind) for each in self.items)
