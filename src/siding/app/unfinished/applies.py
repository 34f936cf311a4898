"""An apply that was cut off: the branch and the checkout are brought to one side.

Its intent holds the whole move, so that whoever comes next (any command that works in the task, or
`siding doctor`) can finish it, or take it back where the person's files no longer allow it.
"""

from siding.app.unfinished.ground import Ground
from siding.git.applying.move import RecoveredSide, move_from, recover
from siding.ledger.details.apply import ApplyDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.kinds import StepStatus


def finish_apply(ground: Ground, intent: Intent) -> Draft:
    """Finish the move of an apply that was cut off; return what its step says."""
    draft = intent.draft
    if draft.status:  # it had ended; only its step was not recorded
        return draft
    detail = draft.detail
    assert isinstance(detail, ApplyDetail)
    move = move_from(detail.move or {})
    project = ground.project
    side = recover(project.repository, project.user_settings, move, reason=detail.reflog)
    if side is RecoveredSide.DONE:
        return draft.completed()
    return draft._replace(
        detail=detail._replace(commit_sha=""),
        status=StepStatus.INTERRUPTED.value,
        reason="it was cut off before anything was changed, or taken back",
    )
