"""Delete the branch of a task whose workspace was removed, if nothing is lost with it.

A branch goes only if Siding made it, no checkout has it, and every commit on it is on the branch
that the task is based on or was applied to. Where the commits were applied as other commits, all of
them must be in Siding's own store, and the state that was applied must be the task's last one. The
same store must have them if the branch is still where ``--from`` put it. In every other case the
branch stays. It is deleted by compare-and-swap, at the commit that was looked at; its entry in the
registry has that commit before, so that the branch can be made again there.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import NotFound, SidingError, counted
from siding.ground.git.errors import GitError
from siding.ground.git.refs import is_sha
from siding.ground.git.repository import give_pack
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.record.ledger.step import Step, StepStatus
from siding.record.ledger.store import Ledger
from siding.record.moving.ref_locks import sweep_locks
from siding.record.place.project import Project
from siding.record.place.take_over import TAKEN_OVER
from siding.record.tasks.registry import BRANCH_MADE, Workspace
from siding.record.tasks.task import TASK_VERSION, Task, TaskState, WorkspaceState, task_from
from siding.record.workspaces.beginning import FROM
from siding.record.worktrees.branches import (
    checkout_with,
    commits_without,
    is_kept,
    is_ours,
    make_branch,
)
from siding.record.worktrees.keeping import give_objects, missing_objects

FATE = "branch_fate"  # a field of the workspace's entry in the registry


class BranchFate(NamedTuple):
    """What became, or would become, of a task's branch. `why` is the end of a sentence.

    `asked`: a person asked to keep it, so that `siding gc` leaves it, too.
    """

    branch: str
    tip: Sha
    deleted: bool
    why: str
    asked: bool = False

    @property
    def sentence(self) -> str:
        """One line for a person: whether the branch was deleted, and why."""
        if self.asked:
            return f"branch {self.branch} kept, as you asked"
        return f"branch {self.branch} {'deleted' if self.deleted else 'kept'}: {self.why}"

    def record(self) -> dict[str, Any]:
        """Return the fate as the registry and JSON output have it."""
        return dict(self._asdict())


def fate_of(workspace: Workspace) -> BranchFate | None:
    """Return what became of the branch when the workspace was removed; None if that is unknown."""
    found = workspace.rest.get(FATE)
    if not isinstance(found, dict):
        return None
    return BranchFate(
        branch=str(found.get("branch")),
        tip=Sha(str(found.get("tip"))),
        deleted=bool(found.get("deleted")),
        why=str(found.get("why")),
        asked=bool(found.get("asked")),
    )


def sweep_branch(project: Project, workspace: Workspace, *, keep: bool = False) -> Workspace:
    """Delete the branch of a removed workspace if nothing is lost with it; return the new entry.

    The caller holds the task's lock and git's. Safe to repeat after a crash at any point: the entry
    says what is going to be done before it is done.
    """
    _sweep_locks(project, workspace)
    fate = judge(project, workspace)
    if fate is None:  # it is gone: by the person, or by this before a crash
        return workspace
    if keep:
        fate = fate._replace(deleted=False, why="a person asked for that", asked=True)
    told = _put(project, workspace, fate)
    if fate.deleted and not project.repository.delete_branch(fate.branch, fate.tip):
        told = _put(project, workspace, fate._replace(deleted=False, why="it is being changed"))
    return told


def sweepable(project: Project) -> Iterator[tuple[Workspace, BranchFate]]:
    """Yield the branches of closed and deleted tasks that can be deleted, with their workspaces.

    A branch that a person asked to keep is not among them. Takes no lock.
    """
    closed = {t.id for t in project.tasks.readable() if t.status is TaskState.CLOSED}
    others = set(project.tasks.ids()) - closed  # open ones, and those that cannot be read
    for workspace in project.registry.all():
        if workspace.task_id in others or not is_removed(workspace):
            continue
        before = fate_of(workspace)
        if before is not None and before.asked:
            continue
        fate = judge(project, workspace)
        if fate is not None and fate.deleted:
            yield workspace, fate


def _sweep_locks(project: Project, workspace: Workspace) -> None:
    """Remove the locks of a git that was deleting the branch when the power failed.

    The entry says then that it is deleted. git's lock of the packed refs would stop every deletion
    of a branch in the repository.
    """
    before = fate_of(workspace)
    if before is None or not before.deleted:
        return
    common = project.paths.common_dir
    locks = [common / f"refs/heads/{before.branch}.lock", common / "packed-refs.lock"]
    sweep_locks(locks, [before.tip])


def is_removed(workspace: Workspace) -> bool:
    """Tell whether the workspace was removed, and nothing is being done to it."""
    return workspace.status is WorkspaceState.REMOVED and workspace.intent is None


def judge(project: Project, workspace: Workspace) -> BranchFate | None:
    """Return whether the branch of a removed workspace can be deleted; None if it is gone."""
    repository, branch = project.repository, workspace.branch
    tip = repository.branch(branch) if branch else None
    if tip is None:
        return None
    kept = BranchFate(branch=branch, tip=tip, deleted=False, why="")
    came_with_it = workspace.adopted and not workspace.rest.get(BRANCH_MADE)
    strange = came_with_it or bool(workspace.rest.get(TAKEN_OVER))
    if strange or not is_ours(repository, branch, workspace.task_id):
        return kept._replace(why="Siding did not make it")
    place = checkout_with(repository, branch)
    if place is not None:
        return kept._replace(why=f"it is checked out at {str(place)!r}")
    try:
        return _weighed(project, workspace, kept)
    except SidingError as error:
        return kept._replace(why=f"what is on it could not be found out: {error.message}")


def bring_branch_back(project: Project, workspace: Workspace, pack: Path | None) -> str | None:
    """Make a branch again that Siding deleted, at the commit that it was at.

    `pack` are objects that were saved with the workspace. Returns a sentence if it cannot be made.
    """
    fate, repository = fate_of(workspace), project.repository
    if fate is None or not fate.deleted or repository.branch(fate.branch) is not None:
        return None
    try:
        if missing_objects(repository, [fate.tip]) and pack is not None and pack.is_file():
            give_pack(repository, pack, doing="giving the repository its objects back")
        if project.snapshots.objects.is_dir():
            give_objects(repository, project.snapshots, [fate.tip])
        make_branch(repository, fate.branch, fate.tip)
    except GitError as error:
        return f"branch {fate.branch} cannot be put back at {fate.tip[:10]}: {error.message}"
    return None


def _weighed(project: Project, workspace: Workspace, kept: BranchFate) -> BranchFate:
    """Return the fate of a branch that Siding made and that is checked out nowhere."""
    repository, tip = project.repository, kept.tip
    gone = kept._replace(deleted=True)
    if commits_without(repository, tip, [workspace.base_commit]) == 0:
        return gone._replace(why="nothing on it")
    task, ledger = _records(project, workspace)
    steps = list(ledger.steps())
    targets = dict(_targets(project, task, steps))
    for name, sha in targets.items():
        if commits_without(repository, tip, [workspace.base_commit, sha]) == 0:
            return gone._replace(why=f"{name} has all of it")
    begun = task.start.get(FROM) if task is not None else None
    is_begun = isinstance(begun, dict) and begun.get("commit") == tip
    if is_begun and is_kept(project.snapshots, workspace.task_id, tip):
        return gone._replace(why="nothing on it but what it started from")
    applied = _applied_to(project, steps, tip)
    if applied is not None and is_kept(project.snapshots, workspace.task_id, tip):
        return gone._replace(why=f"all of it was applied to {applied}")
    count = commits_without(repository, tip, [workspace.base_commit, *targets.values()])
    commits = counted(count, "commit")
    names = " or ".join(targets) or "its base"
    verb = "do" if len(targets) > 1 else "does"
    return kept._replace(why=f"{commits} that {names} {verb} not have")


def _targets(
    project: Project, task: Task | None, steps: Iterable[Step]
) -> Iterator[tuple[str, Sha]]:
    """Yield the task's base as it is now and the branches that it was applied to."""
    if task is not None and task.base_ref:
        try:
            sha = project.repository.resolve(task.base_ref)
            yield task.base_ref[:10] if is_sha(task.base_ref) else task.base_ref, sha
        except NotFound:
            pass  # the branch it was based on is gone
    for step in steps:
        applied = step.as_apply
        if applied is not None and applied.target_branch:
            at = project.repository.branch(applied.target_branch)
            if at is not None:
                yield applied.target_branch, at


def _applied_to(project: Project, steps: list[Step], tip: Sha) -> str | None:
    """Return the branch that has the task's last state, applied as other commits; else None.

    Taking an apply back moves the branch away from the commit that it made.
    """
    if not steps:
        return None
    last = steps[-1].snapshot
    for step in reversed(steps):
        applied = step.as_apply
        if applied is None or step.snapshot != last:
            continue
        whole = applied.whole and not applied.left_out and not applied.gone_back
        if not whole or applied.head != tip or step.status != StepStatus.COMPLETED:
            continue
        name, made = applied.target_branch, applied.commit_sha
        sha = project.repository.branch(name) if name else None
        if sha and made and commits_without(project.repository, Sha(made), [sha]) == 0:
            return str(name)
    return None


def _records(project: Project, workspace: Workspace) -> tuple[Task | None, Ledger]:
    """Return the task's document and ledger, also of a deleted task whose records are in the
    trash."""
    task_id = workspace.task_id
    try:
        return project.tasks.load(task_id), project.ledger(task_id)
    except SidingError:
        place = project.layout.root / (workspace.trash or f"trash/{task_id}") / "task"
        return _task_in(place / "task.json", task_id), Ledger(place / "ledger.jsonl")


def _task_in(path: Path, task_id: TaskId) -> Task | None:
    try:
        document = read_document_or_none(path, what="task", version=TASK_VERSION)
        return None if document is None else task_from({"id": task_id, **document})
    except (SidingError, KeyError, TypeError, ValueError):
        return None


def _put(project: Project, workspace: Workspace, fate: BranchFate) -> Workspace:
    rest: Mapping[str, Any] = {**workspace.rest, FATE: fate.record()}
    told = workspace._replace(rest=rest)
    with project.changing(f"writing down the branch of task {workspace.task_id}"):
        project.registry.put(told)
    return told
