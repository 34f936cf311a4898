"""Finish an apply that was cut off; clean up after a rollback, an undo or a redo that was.

The intent of an apply describes the whole move. The next command that works in the task, or `siding
doctor`, finishes the move, or takes it back if the files in the person's checkout no longer allow
it, so that the branch and the checkout agree again.

What a rollback did so far is recorded as its step, and the next undo leads to the state before it.
So only the locks that it held in the user's repository have to go.
"""

from collections.abc import Sequence
from pathlib import Path

from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.record.files.displaced import DISPLACED, keep_unrecorded, names_of
from siding.record.files.small_files import TEMPORARY
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.kinds import StepStatus
from siding.record.ledger.move_details import ApplyDetail, RollbackDetail
from siding.record.moving.checkout import discard_index, release_dead_lock
from siding.record.moving.intended import discard_intended
from siding.record.moving.model import CheckoutPlace, move_from
from siding.record.moving.move import RecoveredSide
from siding.record.moving.move_recovery import recover
from siding.record.moving.ref_locks import sweep_locks
from siding.record.snapshots.git_state import GitState, recorded_state
from siding.record.unfinished.displaced_files import told
from siding.record.unfinished.ground import Ground


def finish_restoration(ground: Ground, intent: Intent) -> Draft:
    """Remove the locks of a restoration that was cut off; return the draft of its step."""
    detail = intent.draft.as_rollback
    if detail is None:
        return intent.draft
    if detail.parts:
        _sweep(ground, intent, detail.restored)
    return intent.draft._replace(detail=_kept(ground, detail))


def _kept(ground: Ground, detail: RollbackDetail) -> RollbackDetail:
    """Give the versions that others wrote meanwhile their names; return the detail with these."""
    if not detail.displaced:
        return detail
    project = ground.project
    place = project.layout.root / detail.displaced / DISPLACED
    if not place.is_dir():
        return detail._replace(displaced="")
    kept = keep_unrecorded(place, project.snapshots.repository.object_format)
    return detail._replace(kept=names_of(kept, detail.displaced))


def finish_taking(ground: Ground, intent: Intent) -> Draft:
    """Do the same for the first step of a task that started from another one's state."""
    detail = intent.draft.as_checkpoint
    if detail is not None and detail.taken:
        _sweep(ground, intent, detail.taken)
    return intent.draft


def _sweep(ground: Ground, intent: Intent, restored: str | None) -> None:
    workspace = ground.workspace
    if workspace.git_dir:
        sweep(
            ground.project.repository,
            CheckoutPlace(root=Path(workspace.path), git_dir=Path(workspace.git_dir)),
            workspace.branch,
            intent.act,
            _states(ground, [intent.parent, restored]),
        )


def _states(ground: Ground, snapshots: list[str | None]) -> list[GitState]:
    """Return the git states of the snapshots that can be read."""
    found = []
    for snapshot in snapshots:
        try:
            if snapshot:
                task_id, branch = ground.workspace.task_id, ground.workspace.branch
                store = ground.project.snapshots
                found.append(recorded_state(store, task_id, branch, Sha(snapshot)))
        except SnapshotDamaged:
            continue
    return found


def sweep(
    repository: Repository,
    place: CheckoutPlace,
    task_branch: str,
    token: str,
    states: Sequence[GitState],
) -> None:
    """Remove the locks that a killed return with this token left, between these states.

    Safe to repeat. The caller knows that no process of the return is alive.
    """
    if not token or not place.git_dir.is_dir():
        return
    release_dead_lock(place, token)
    discard_index(place, token)
    discard_intended(place.git_dir)
    (place.git_dir / TEMPORARY).unlink(missing_ok=True)
    written: list[str] = [s for state in states for s in (state.head, state.tip) if s]
    written += [f"ref: refs/heads/{state.branch}" for state in states if state.branch]
    branch_lock = repository.paths.common_dir / f"refs/heads/{task_branch}.lock"
    sweep_locks([branch_lock, place.git_dir / "HEAD.lock"], written)


def finish_apply(ground: Ground, intent: Intent) -> Draft:
    """Finish or take back the move of an apply that was cut off; return the draft of its step."""
    draft = intent.draft
    if draft.status:  # the move had ended; only its step was not recorded
        return draft
    detail = draft.detail
    assert isinstance(detail, ApplyDetail)
    move = move_from(detail.move or {})
    project = ground.project
    side = recover(project.repository, project.user_settings, move, reason=detail.reflog)
    detail = told(project, move, detail)
    if side is RecoveredSide.DONE:
        return draft._replace(detail=detail).completed()
    return draft._replace(
        detail=detail._replace(commit_sha=""),
        status=StepStatus.INTERRUPTED.value,
        reason="it was cut off before anything was changed, or taken back",
    )
