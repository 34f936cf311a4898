"""Runs of workflows that a process works on, and their tasks. No state and no journal is read."""

from collections.abc import Iterator

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import listed_ids, read_document_or_none
from siding.ground.storage.locks import FileLock
from siding.record.place.project import Project

_VERSION = 1


class LiveWorkflow(NamedTuple):
    """A run of a workflow that lives."""

    run_id: str
    name: str
    task_id: str


def live_workflows(project: Project, task_id: str | None = None) -> Iterator[LiveWorkflow]:
    """Yield the runs that live, of one task or of all, by id. What cannot be read is left out."""
    directory = project.layout.workflow_runs_dir
    for name in listed_ids(directory):
        try:
            if not FileLock(directory / name / "lock").is_locked():
                continue
            document = read_document_or_none(
                directory / name / "run.json", what="workflow run", version=_VERSION
            )
        except (SidingError, OSError):
            continue
        found = LiveWorkflow(
            run_id=name,
            name=str((document or {}).get("name", "")),
            task_id=str((document or {}).get("task_id", "")),
        )
        if task_id is None or found.task_id == task_id:
            yield found
