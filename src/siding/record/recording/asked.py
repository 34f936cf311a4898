"""What a run asked its broker, as it is recorded with the run's step."""

from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.runs.requests import KIND, Asked, read_requests
from siding.record.tasks.task import Task

__all__ = ["Asked", "asked_by"]


def asked_by(project: Project, task: Task, step: Step) -> list[Asked]:
    """Return what a run asked and was told, in order; nothing if its file is gone."""
    named = step.artifacts.get(KIND)
    try:
        return read_requests(project.task_layout(task.id).root / named) if named else []
    except OSError:
        return []
