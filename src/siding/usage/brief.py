"""Say in a few words what was used."""

from typing import TYPE_CHECKING

from siding.ground.errors import counted
from siding.record.ledger.usage import Usage, added, summed, usage_from

if TYPE_CHECKING:
    from siding.ground.ids import TaskId
    from siding.record.ledger.step import Step
    from siding.record.place.project import Project
    from siding.record.runs.reported import Reported


def brief(usage: Usage) -> str:
    """Return the sums and the models, "" for nothing."""
    if not usage:
        return ""
    total = summed(usage)
    cached = f", {total.cache_read:,} of them cached" if total.cache_read else ""
    # What an agent says over its protocol does not tell how many calls there were.
    calls = f"{counted(total.calls, 'call')}: " if total.calls else ""
    sent = counted(total.sent, "token")
    return f"{calls}{sent} in{cached}, {total.output:,} out ({', '.join(usage)})"


def tokens_of(step: "Step") -> str:
    """Return the tokens of a run or a turn for a list: ``950``, ``48k``, ``1.2M``; "" for none."""
    count = summed(step.usage).total
    if count < 1000:
        return str(count or "")
    thousands = count / 1000
    if thousands < 999.5:
        return f"{thousands:.1f}k" if thousands < 9.95 else f"{thousands:.0f}k"
    millions = thousands / 1000
    return f"{millions:.1f}M" if millions < 99.95 else f"{millions:.0f}M"


def usage_of_task(project: "Project", task_id: "TaskId") -> Usage:
    """Return what all recorded runs of a task used; their turns are parts of them."""
    steps = project.ledger(task_id).steps()
    return added(run.usage for each in steps if (run := each.as_run) is not None)


def used_in(reported: "Reported") -> Usage:
    """Return what was used in all conversations of a run."""
    return added(usage_from(each) for each in reported.used.values())
