"""Bring the part of a workspace's state that is not its files along with them.

HEAD, the task's branch, the index, git's unfinished business, and the documents of the phases.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha
from siding.record.acts.skeleton import Work
from siding.record.moving.checkout import CheckoutPlace
from siding.record.phases.documents import put_documents
from siding.record.place.project import Project
from siding.record.returning.carry_out import Returning, returning
from siding.record.returning.plan import GitReturn, plan_return, recorded_state
from siding.record.snapshots.git_state import GitState, state_in
from siding.record.snapshots.heads import head_now
from siding.record.tasks.registry import Workspace
from siding.record.unfinished.phases import phase_lock

LARGEST_DOCUMENT = 16 << 20


def state_at(project: Project, workspace: Workspace, snapshot: Sha) -> GitState:
    """Return the git state that a snapshot of the task stands for."""
    return recorded_state(project.snapshots, workspace.task_id, workspace.branch, snapshot)


def place_of(workspace: Workspace) -> CheckoutPlace:
    """Return the workspace as git's commands take it."""
    return CheckoutPlace(root=Path(workspace.path), git_dir=Path(workspace.git_dir))


def state_now(project: Project, workspace: Workspace, snapshot: Sha) -> GitState:
    """Return where HEAD and the task's branch are now, and for the rest what `snapshot` says.

    For a preview, which records nothing.
    """
    recorded = state_at(project, workspace, snapshot)
    head = head_now(project.snapshots, Path(workspace.git_dir))
    return recorded._replace(
        head=head.sha, branch=head.branch, tip=project.repository.branch(workspace.branch)
    )


def plan_git_part(
    project: Project, workspace: Workspace, now: GitState, snapshot: Sha
) -> GitReturn | None:
    """Return what has to be done to come to the state of a snapshot; None if nothing has to."""
    if not workspace.git_dir or not Path(workspace.git_dir).is_dir():
        return None
    store = project.snapshots
    # A snapshot of before says nothing of the phases. At the base there were none.
    says_all = state_in(store.read_commit(snapshot)) is not None
    return plan_return(
        project.repository,
        store,
        place_of(workspace),
        workspace.branch,
        now=now,
        then=state_at(project, workspace, snapshot),
        with_documents=says_all or snapshot == workspace.base_snapshot,
    )


@contextmanager
def returning_with_files(
    work: Work, plan: GitReturn | None, *, token: str, reason: str
) -> Iterator[None]:
    """Move HEAD and the task's branch, then let the block restore the files, then do the rest.

    An error in `siding.record.returning.carry_out.REFUSED` is raised before anything was changed.
    """
    if plan is None:
        yield
        return
    project, snapshots = work.project, work.recorder.snapshots
    documents = _documents(project, plan)
    carrying = Returning(
        repository=project.repository,
        store=project.snapshots,
        place=place_of(work.recorder.workspace),
        token=token,
        reason=f"siding: {reason}",
        keep_fds=snapshots.keep_fds,
    )
    with ExitStack() as stack:
        if documents is not None:
            stack.enter_context(phase_lock(project, work.task, reason))
        with returning(carrying, plan, lambda: snapshots.is_in_state(plan.now)):
            yield
            if documents is not None:
                put_documents(work.recorder.layout.root, documents)


def _documents(project: Project, plan: GitReturn) -> dict[str, bytes] | None:
    """Return the documents to write; None if they stay as they are."""
    if plan.present.documents == plan.wanted.documents:
        return None
    found: dict[str, bytes] = {}
    for name, sha in plan.wanted.documents.items():
        data = project.snapshots.read_blob(sha, LARGEST_DOCUMENT)
        if data is None:
            raise SnapshotDamaged(f"{name} of that state is lost")
        found[name] = data
    return found
