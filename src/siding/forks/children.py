"""What a task of a group says of where it comes from."""

from collections.abc import Iterator, Mapping
from typing import Any

from siding.ground.errors import NotFound, UnreadableFile
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.tasks.task import Task


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
