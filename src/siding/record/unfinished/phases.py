"""Finish or forget a move between phases that was cut off; the branch shows which of the two."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.files.durable import make_dirs
from siding.ground.ids import Sha
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.kinds import StepStatus
from siding.record.ledger.move_details import PhaseDetail
from siding.record.moving.model import CheckoutPlace, Move
from siding.record.moving.worktree_commits import agree_index, has_happened
from siding.record.phases.store import PhaseStore
from siding.record.place.project import WAIT_FOR_PROJECT_S, Project
from siding.record.tasks.task import Task
from siding.record.unfinished.ground import Ground

REFLOG = "siding phase"


def finish_cut_off(project: Project, task: Task) -> None:
    """Finish or forget a move that was cut off; do nothing if a move is in progress."""
    try:
        with phase_lock(project, task, "finishing a move that was cut off", wait_s=0):
            settle_cut_off(project, task, PhaseStore(project.task_layout(task.id).root))
    except LockBusy:
        return


def finish_before_work(project: Project, task: Task) -> None:
    """Do the same before other work in the task; a failure must not prevent this work."""
    try:
        finish_cut_off(project, task)
    except (SidingError, OSError):  # the next move and `siding doctor` report the problem
        return


def finish_phase_move(ground: Ground, intent: Intent) -> Draft:
    """Finish or forget a phase move that was cut off; return the draft of its step."""
    draft, project = intent.draft, ground.project
    detail = draft.detail
    assert isinstance(detail, PhaseDetail)
    if draft.status:
        return draft
    finish_before_work(project, project.tasks.load(ground.workspace.task_id))
    store = PhaseStore(ground.layout.root)
    if _stands_in_status(store, detail.commit_sha):
        return draft.completed()
    if store.has_intent():  # what keeps it from being finished, `siding doctor` says
        return draft._replace(
            status=StepStatus.INTERRUPTED.value, reason="it was cut off, and is not finished yet"
        )
    return draft._replace(
        detail=detail._replace(commit_sha=""),
        status=StepStatus.INTERRUPTED.value,
        reason="it was cut off before the branch was moved",
    )


def _stands_in_status(store: PhaseStore, commit: str) -> bool:
    """Tell whether a move of the present pass made this commit."""
    try:
        there = store.load()
    except UnreadableFile:
        return False
    return there is not None and any(each.git_commit == commit for each in there.history)


def settle_cut_off(project: Project, task: Task, store: PhaseStore) -> None:
    """Finish or forget a move that was cut off. The caller holds the lock of the task's phases."""
    intent = store.cut_off()
    if intent is None:
        return
    workspace = project.workspaces.of_task(task.id)
    git_dir = Path(workspace.git_dir) if workspace and workspace.git_dir else Path("/nowhere")
    place = CheckoutPlace(root=Path(workspace.path if workspace else "/nowhere"), git_dir=git_dir)
    step = Move(intent.branch, Sha(intent.old), Sha(intent.new), place, intent.token)
    repository, user = project.repository, project.user_settings
    if not has_happened(repository, step):
        store.give_up()
        return
    if place.root.is_dir() and repository.branch(step.branch) == step.new:
        try:
            agree_index(repository, user, place, step)
        # The commit is made, and only the index of the workspace disagrees. The move has reported
        # that already, with `git reset` as the remedy.
        except (SidingError, OSError):
            pass
    store.finish(intent)


@contextmanager
def phase_lock(
    project: Project, task: Task, what: str, *, wait_s: float = WAIT_FOR_PROJECT_S
) -> Iterator[FileLock]:
    """Hold the lock of a task's phases, so that only one move happens at a time.

    Raises LockBusy if another process still holds it after `wait_s` seconds.
    """
    path = project.task_layout(task.id).root / "phase.lock"
    make_dirs(path.parent)
    lock = FileLock(path)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=what)
    lock.acquire(timeout_s=wait_s, holder=holder)
    try:
        yield lock
    finally:
        lock.release()
