"""Where a fork comes from: its parent and its group, in its document; and the forks as a list."""

from collections.abc import Iterator, Mapping
from typing import Any

from siding.ground.errors import NotFound, UnreadableFile
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task, TaskState


class Parentage(NamedTuple):
    """The fields by which the document of a fork names its parent and its group.

    `group` is a name that the maker chose (the id of a workflow run, say), `call` what it calls
    this one (a path in a script). `step` and `snapshot` are the state of the parent that the fork
    began with, `base` the fork's own first snapshot of it.
    """

    parent: TaskId
    group: str = ""
    call: str = ""
    step: str = ""
    snapshot: str = ""
    base: str = ""
    applied: str = ""  # the fork's snapshot that was brought back last
    kept: str = ""  # the task of the board that it became

    @classmethod
    def of(cls, task: Task) -> "Parentage | None":
        """Return the parentage of a task; None for one that never was a fork."""
        record = task.rest.get("fork")
        if not isinstance(record, Mapping):
            return None
        return cls(
            parent=TaskId(str(record.get("parent") or "")),
            group=str(record.get("group") or ""),
            call=str(record.get("call") or ""),
            step=str(record.get("step") or ""),
            snapshot=str(record.get("snapshot") or ""),
            base=str(record.get("base") or ""),
            applied=str(record.get("applied") or ""),
            kept=str(record.get("kept") or ""),
        )

    def record(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value}


def with_parentage(task: Task, parentage: Parentage) -> Task:
    """Return the task with these fields in its document."""
    return task._replace(rest={**task.rest, "fork": parentage.record()})


def forks_of(
    project: Project, *, parent: TaskId | None = None, group: str | None = None
) -> Iterator[Task]:
    """Yield the forks that can be read, of a parent or of a group if that is said."""
    for task_id in project.tasks.fork_ids():
        try:
            task = project.tasks.load(task_id)
        except (NotFound, UnreadableFile):
            continue
        found = Parentage.of(task)
        if found is None or (parent is not None and found.parent != parent):
            continue
        if group is None or found.group == group:
            yield task


class ForkRow(NamedTuple):
    """One fork. `step` is that of its parent after which it was made; `kept` the task of the board
    that was started from it."""

    id: str
    name: str
    parent: str
    step: str
    group: str
    call: str
    status: str  # active, running, closed
    steps: int
    applied: bool
    kept: str
    updated_at: str
    workspace: str


def fork_rows(
    project: Project,
    *,
    parent: TaskId | None = None,
    group: str | None = None,
    closed: bool = False,
) -> list[ForkRow]:
    """Return the forks, oldest first; closed ones only if that is asked."""
    rows = []
    for task in forks_of(project, parent=parent, group=group):
        found = Parentage.of(task)
        if found is None or (task.status is TaskState.CLOSED and not closed):
            continue
        last = project.ledger(task.id).last()
        workspace = project.registry.of_task(task.id)
        running = task.status is not TaskState.CLOSED and bool(
            Runs(project.task_layout(task.id)).live()
        )
        rows.append(
            ForkRow(
                id=task.id,
                name=task.name,
                parent=found.parent,
                step=found.step,
                group=found.group,
                call=found.call,
                status="running" if running else task.status.value,
                steps=0 if last is None else last.number,
                applied=bool(found.applied),
                kept=found.kept,
                updated_at=task.updated_at if last is None else last.ended_at or task.updated_at,
                workspace=workspace.path if workspace and task.status is TaskState.ACTIVE else "",
            )
        )
    return sorted(rows, key=lambda row: (row.updated_at, row.id))
