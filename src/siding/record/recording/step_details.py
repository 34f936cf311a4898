"""What front ends show of a step besides its line: its commits, what its run asked, its reports."""

from siding.ground.errors import SidingError
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import (
    IsolationReport,
    OutsideChange,
    PolicyEvent,
    SandboxReport,
    Trap,
)
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.runs.requests import KIND, Asked, read_requests
from siding.record.tasks.task import Task

LISTED = 20  # the most commits that are looked up, because a rebase can make hundreds
__all__ = [
    "Asked",
    "IsolationReport",
    "OutsideChange",
    "PolicyEvent",
    "SandboxReport",
    "Trap",
    "quote_path",
]


class StepCommit(NamedTuple):
    """A commit of a step; `subject` is None if the repository no longer has the commit."""

    sha: str
    subject: str | None


def commits_of(project: Project, step: Step) -> list[StepCommit]:
    """Return the first `LISTED` commits of a step; git is started only if there are any."""
    return [StepCommit(sha, _subject(project, Sha(sha))) for sha in step.commits[:LISTED]]


def _subject(project: Project, sha: Sha) -> str | None:
    try:
        return project.repository.summary(sha).subject
    except SidingError:
        return None


def asked_by(project: Project, task: Task, step: Step) -> list[Asked]:
    """Return what a run asked and was told, in order; nothing if its file is gone."""
    named = step.artifacts.get(KIND)
    try:
        return read_requests(project.task_layout(task.id).root / named) if named else []
    except OSError:
        return []
