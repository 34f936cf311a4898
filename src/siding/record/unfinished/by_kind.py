"""The recovery function for each kind of act whose process died.

An act of a kind that is not in the table left nothing but changes in the workspace, which the
recorder finds by itself. The recovery modules are imported on use, because that is rare.
"""

from typing import TYPE_CHECKING

from siding.record.ledger.kinds import StepKind, StepStatus
from siding.record.unfinished.ground import Ground

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from siding.ground.storage.layout import TaskLayout
    from siding.record.ledger.draft import Draft
    from siding.record.ledger.intents import Intent
    from siding.record.place.project import Project
    from siding.record.tasks.registry import Workspace


def recovered(
    project: "Project", layout: "TaskLayout", workspace: "Workspace", intent: "Intent"
) -> "Draft":
    """Finish or take back an act that was cut off; return the draft of its step."""
    recovery = RECOVERIES.get(intent.kind)
    if recovery is None:
        draft = intent.draft
    else:
        draft = recovery(Ground(project, layout, workspace), intent)
    if not draft.status:
        draft = draft._replace(status=StepStatus.INTERRUPTED.value)
    return draft._replace(recovered=True)


def _apply(ground: Ground, intent: "Intent") -> "Draft":
    from siding.record.unfinished.applies import finish_apply

    return finish_apply(ground, intent)


def _checkpoint(ground: Ground, intent: "Intent") -> "Draft":
    from siding.record.unfinished.restorations import finish_taking

    return finish_taking(ground, intent)


def _rollback(ground: Ground, intent: "Intent") -> "Draft":
    from siding.record.unfinished.restorations import finish_restoration

    return finish_restoration(ground, intent)


def _run(ground: Ground, intent: "Intent") -> "Draft":
    from siding.record.unfinished.runs import finish_run

    return finish_run(ground, intent)


def _phase(ground: Ground, intent: "Intent") -> "Draft":
    from siding.record.unfinished.phases import finish_phase_move

    return finish_phase_move(ground, intent)


RECOVERIES: "Mapping[str, Callable[[Ground, Intent], Draft]]" = {
    StepKind.APPLY.value: _apply,
    StepKind.CHECKPOINT.value: _checkpoint,
    StepKind.PHASE.value: _phase,
    StepKind.ROLLBACK.value: _rollback,
    StepKind.RUN.value: _run,
}
