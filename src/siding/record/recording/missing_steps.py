"""The steps of a task that its ledger does not show: those in progress, those on damaged lines."""

from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intent_files import intent_paths
from siding.record.ledger.store import DamagedLine, damaged_lines
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


def damaged_steps(project: Project, task: Task, *, whole: bool = False) -> list[DamagedLine]:
    """Return the lines of a task's ledger that should be steps and cannot be read.

    A torn last line does not count unless artifacts of its step exist: a writer that is killed in
    the middle of the line leaves it, and no command has reported this step as recorded. Of a long
    ledger only the end is read, unless `whole` is set.
    """
    layout = project.task_layout(task.id)
    found = damaged_lines(layout.ledger_jsonl, whole=whole)
    if not any(each.torn for each in found):
        return found
    from siding.record.ledger.intents import Intents

    begun = {intent.number for intent in Intents(layout).all()}
    newest = project.ledger(task.id).last()
    last = newest.number if newest else 0
    return [each for each in found if not each.torn or _was_promised(layout, each, last, begun)]


def _was_promised(layout: TaskLayout, line: DamagedLine, last: int, begun: set[int]) -> bool:
    """Tell whether a torn line was once complete: later steps or artifacts of its step exist."""
    if line.number is None or line.number in begun:
        return False
    left = (layout.artifact(line.number, kind).exists() for kind in ("output", "patch"))
    return line.number < last or any(left)


def ledger_problems(project: Project, task: Task) -> list[str]:
    """Return the damaged lines of a task's ledger as sentences."""
    return [
        f"{each.where} is damaged ({each.reason}); it is kept as it is, `siding verify` tells more"
        for each in damaged_steps(project, task)
    ]
