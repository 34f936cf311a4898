"""An apply that was cut off: the branch and the checkout are brought to one side.

Its intent holds the whole move, so that whoever comes next (any command that works in the task, or
`siding doctor`) can finish it, or take it back where the person's files no longer allow it.
"""

from siding.app.place.project import Project
from siding.git.applying.move import Recovered, move_from, recover
from siding.ledger.details.apply import ApplyDetail
from siding.ledger.draft import Draft
from siding.ledger.kinds import StepStatus


def finish_apply(project: Project, draft: Draft) -> Draft:
    """Finish the move of a step that was cut off; return its draft with how it ended.

    The task's lock is held, and with it the certainty that no git of that step is alive.
    """
    detail = draft.detail
    assert isinstance(detail, ApplyDetail)
    move = move_from(detail.move or {})
    side = recover(project.repository, project.user_settings, move, reason=detail.reflog)
    if side is Recovered.DONE:
        return draft.completed()
    return draft._replace(
        detail=detail._replace(commit_sha=""),
        status=StepStatus.INTERRUPTED.value,
        reason="it was cut off before anything was changed, or taken back",
    )
