"""Restore a workspace to the state after a step, or to the base.

A rollback is always recorded as a step, even if nothing differs: so the next undo takes back this
rollback and not an older act. The state before it is recorded first, and nothing is deleted that no
snapshot holds. All parts of the state go along: HEAD, the task's branch, the index, a merge or
rebase under way, the phases. With `files_only` or paths, files alone do: commits made after the
restored state then stay in the branch but are not published
(`applying/rolled_back_commits.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.ground.git.errors import GitError
from siding.ground.git.paths import quote_path
from siding.ground.git.refs import read_head
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns
from siding.record.acts.skeleton import Work, perform
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.freed import refuse_freed
from siding.record.recording.named_paths import named_paths, refuse_unknown
from siding.record.recording.steps import step as find_step
from siding.record.restoring.act import Going, RestoreAct, Restored, rollback_to
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.restoring.survey import Destination, RestoreRequest, Survey, previewed
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.git_state import head_in
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

__all__ = [
    "Restored",
    "RollbackRequest",
    "RolledBack",
    "Survey",
    "destination_of",
    "moved_branch",
    "preview",
    "quote_path",
    "rollback",
]


class RollbackRequest(NamedTuple):
    """The options of one ``siding rollback``. `step` None means the base."""

    step: str | None
    task: str | None = None
    paths: tuple[str, ...] = ()
    hard: bool = False
    force: bool = False
    wait: bool = False
    files_only: bool = False
    beside: BesideRuns = BesideRuns()


class RolledBack(NamedTuple):
    """The result of a rollback."""

    task: Task
    settled: tuple[Step, ...]  # recorded first
    survey: Survey
    restored: Restored
    branch: str | None  # a sentence if files alone went back, and HEAD is at another commit


def rollback(project: Project, request: RollbackRequest) -> RolledBack:
    """Restore the workspace and record that as a step.

    Raises NotFound if there is no such step, and Refusal.
    """
    task = select(project, request.task)
    return perform(project, task.id, RollbackAct(request))


class RollbackAct(RestoreAct[RolledBack]):
    """Go to the state after a step, or to the base."""

    what = "rollback"

    def __init__(self, request: RollbackRequest) -> None:
        self._request = request
        self.wait = request.wait
        self.pauses_runs = request.beside

    def going(self, work: Work) -> Going:
        project, workspace, seen = work.project, work.recorder.workspace, work.recorder.seen
        target, number = _target(project, work.task, self._request)
        destination = destination_of(workspace, target)
        how = _how(project, workspace, self._request)
        refuse_freed(project, destination.name, destination.snapshot)
        refuse_unknown(project.snapshots, (destination.snapshot, seen.tree), how.paths)
        detail = rollback_to(f"back to {destination.name}", step=number, hard=how.hard)
        return Going(destination, how, detail)

    def restored(self, work: Work, restored: Restored) -> RolledBack:
        found = restored.survey
        return RolledBack(
            task=work.task,
            settled=work.settled,
            survey=found,
            restored=restored,
            branch=None
            if found.request.takes_all
            else moved_branch(work.project, work.recorder.workspace, found.destination),
        )


def check_target(project: Project, request: RollbackRequest) -> Task:
    """Return the task. Raises NotFound if there is no such step."""
    task = select(project, request.task)
    _target(project, task, request)
    return task


@contextmanager
def preview(project: Project, request: RollbackRequest) -> Iterator[Survey]:
    """Yield what `rollback` would do. Writes nothing and takes no lock."""
    task = select(project, request.task)
    workspace = require_workspace(project, task)
    target, _number = _target(project, task, request)
    destination = destination_of(workspace, target)
    how = _how(project, workspace, request)
    refuse_freed(project, destination.name, destination.snapshot)
    with previewed(project, workspace, destination, how) as found:
        yield found


def destination_of(workspace: Workspace, target: Step | None) -> Destination:
    """Return the state after a step, or the base."""
    if target is None:
        if not workspace.base_snapshot:
            raise Refusal(Reason.NO_BASE)
        lacks = workspace.rest.get("base_coverage")
        return Destination(
            snapshot=workspace.base_snapshot,
            name="the base",
            coverage=Coverage.from_record(lacks) if isinstance(lacks, dict) else None,
        )
    if target.snapshot is None:
        raise Refusal(Reason.NO_SNAPSHOT, step=target.id)
    return Destination(
        snapshot=Sha(target.snapshot), name=f"step {target.id}", coverage=target.coverage
    )


def moved_branch(project: Project, workspace: Workspace, destination: Destination) -> str | None:
    """Return a sentence if HEAD is at another commit than in that state, else None."""
    said = project.snapshots.read_commit(destination.snapshot).message
    before = head_in(said) or workspace.base_commit
    head = read_head(Path(workspace.git_dir), project.paths.common_dir)
    if head is None or head.sha is None or not before or head.sha == before:
        return None
    where = f"branch {head.branch}" if head.branch else "HEAD"
    try:
        since = project.repository.divergence(head.sha, before).ahead
    except GitError:  # one of the two is gone from the repository
        since = 0
    if not since:
        return f"{where} stays at {head.sha[:10]}; in {destination.name} it was at {before[:10]}"
    commits = "a commit" if since == 1 else f"{since} commits"
    return (
        f"{where} keeps {commits} made since; `siding apply`, `siding pr` and `siding phase` "
        "leave out what was gone back from"
    )


def _target(
    project: Project, task: Task, request: RollbackRequest
) -> tuple[Step | None, int | None]:
    if request.step is None:
        return None, None
    _task, found = find_step(project, task.id, request.step)
    return found, found.number


def _how(project: Project, workspace: Workspace, request: RollbackRequest) -> RestoreRequest:
    paths = named_paths(project, workspace, request.paths)
    return RestoreRequest(
        paths=paths, hard=request.hard, force=request.force, files_only=request.files_only
    )
