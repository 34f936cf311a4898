"""The steps of a task that have begun and are not in its ledger yet."""

from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.intent_files import intent_paths
from siding.record.place.project import Project
from siding.record.tasks.task import Task

if TYPE_CHECKING:
    from siding.ground.storage.locks import Holder
    from siding.record.ledger.intents import Intent


class InProgress(NamedTuple):
    """A step that has begun and is not in the ledger yet."""

    intent: "Intent"
    holder: "Holder | None"  # None: its process died, and it will be recorded as interrupted

    @property
    def name(self) -> str:
        """The id of the run; of another act, the number that its step will probably get."""
        return self.intent.run or f"{self.intent.number:04d}"


def in_progress(project: Project, task: Task) -> list[InProgress]:
    """Return the steps that have begun and are not recorded yet, oldest first.

    Those that were cut off come before those that live.
    """
    layout = project.task_layout(task.id)
    if not intent_paths(layout):
        return []
    from siding.record.ledger.intents import Intents

    intents = Intents(layout)
    found = [InProgress(intent=each, holder=intents.holder(each)) for each in intents.all()]
    return sorted(found, key=lambda each: each.holder is not None)


def progress_record(found: InProgress) -> dict[str, Any]:
    """Return the step in progress in the form of a ledger line.

    Its status is ``running``, or ``cut off`` if its process died.
    """
    return {
        "step_id": f"{found.intent.number:04d}",
        "act": found.intent.act,
        "kind": found.intent.kind,
        "started_at": found.intent.started_at,
        "parent": found.intent.parent,
        **found.intent.draft.as_record(),
        "status": "running" if found.holder is not None else "cut off",
    }
