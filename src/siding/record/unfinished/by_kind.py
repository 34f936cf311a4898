"""The recovery for each kind of act whose process died. Its modules are imported on use: rare."""

from typing import TYPE_CHECKING, assert_never

from siding.record.ledger.kinds import StepKind, StepStatus, known_kind
from siding.record.unfinished.ground import Ground

if TYPE_CHECKING:
    from siding.ground.storage.layout import TaskLayout
    from siding.record.ledger.draft import Draft
    from siding.record.ledger.intents import Intent
    from siding.record.place.project import Project
    from siding.record.tasks.registry import Workspace


def recovered(
    project: "Project", layout: "TaskLayout", workspace: "Workspace", intent: "Intent"
) -> "Draft":
    """Finish or take back an act that was cut off; return the draft of its step."""
    draft = _finished(Ground(project, layout, workspace), intent)
    if not draft.status:
        draft = draft._replace(status=StepStatus.INTERRUPTED.value)
    return draft._replace(recovered=True)


def _finished(ground: Ground, intent: "Intent") -> "Draft":
    kind = known_kind(intent.kind)
    match kind:
        case None:
            # A newer version began it. It left nothing but changes in the workspace that this
            # version knows of, and these the recorder finds by itself.
            return intent.draft
        case StepKind.APPLY:
            from siding.record.unfinished.moves import finish_apply

            return finish_apply(ground, intent)
        case StepKind.CHECKPOINT:
            from siding.record.unfinished.moves import finish_taking

            return finish_taking(ground, intent)
        case StepKind.ROLLBACK:
            from siding.record.unfinished.moves import finish_restoration

            return finish_restoration(ground, intent)
        case StepKind.RUN:
            from siding.record.unfinished.runs import finish_run

            return finish_run(ground, intent)
        case StepKind.PHASE:
            from siding.record.unfinished.phases import finish_phase_move

            return finish_phase_move(ground, intent)
        case _:
            assert_never(kind)
