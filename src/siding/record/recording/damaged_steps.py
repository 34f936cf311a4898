"""Lines of a task's ledger that should be steps and cannot be read."""

from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.damage import DamagedLine, damaged_lines
from siding.record.place.project import Project
from siding.record.tasks.task import Task


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
