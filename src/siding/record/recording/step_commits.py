"""The commits that a step made or applied, with their subjects."""

from siding.ground.errors import SidingError
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.place.project import Project

LISTED = 20  # the most commits that are looked up, because a rebase can make hundreds


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
