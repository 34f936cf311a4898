"""Finish an apply that was cut off, so that the branch and the checkout agree again.

The intent describes the whole move. The next command that works in the task, or `siding doctor`,
finishes the move, or takes it back if the files in the person's checkout no longer allow it.
"""

from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.kinds import StepStatus
from siding.record.ledger.move_details import ApplyDetail
from siding.record.moving.model import move_from
from siding.record.moving.move import RecoveredSide
from siding.record.moving.move_recovery import recover
from siding.record.unfinished.displaced_files import told
from siding.record.unfinished.ground import Ground


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
