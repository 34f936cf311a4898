"""The state of a task in a few figures, for the prompt of a shell. Starts no process."""

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intent_files import intent_paths
from siding.record.ledger.step import Step
from siding.record.ledger.unapplied import LOOKED_AT, unapplied
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.logged import has_failed
from siding.record.runs.store import Runs

MOST_COUNTED = LOOKED_AT - 1  # steps that are not applied; there may be more


class ShortStatus(NamedTuple):
    """A task: how many runs are at work (an idle conversation's agent is not), how many questions
    wait for a person, how much broke, and how many steps changed something that is not applied yet.
    """

    task: str
    runs: int
    questions: int
    broken: int
    unapplied: int


def short_status(project: Project, named: str | None) -> ShortStatus:
    """Return the figures of a task; write nothing.

    Broken are acts that were cut off, and the last step if it did not end well or left conflicts.
    """
    task = select(project, named)
    layout = project.task_layout(task.id)
    found = unapplied(project.ledger(task.id))
    failed = found.last is not None and _is_broken(found.last)
    return ShortStatus(
        task=task.name,
        runs=_at_work(project, layout, task.id),
        questions=_questions(project, task.id),
        broken=_cut_off(layout) + failed,
        unapplied=found.steps,
    )


def _is_broken(last: Step) -> bool:
    """Tell whether the newest step did not end well, or left conflicts in the workspace."""
    conflicts = last.merged is not None and last.merged.conflicts
    return bool(conflicts) or (has_failed(last) and not last.was_stopped)


def _at_work(project: Project, layout: TaskLayout, task_id: TaskId) -> int:
    live = Runs(layout).live()
    if not live or not layout.chats_dir.is_dir():
        return len(live)
    from siding.chat.held_runs import resting_runs

    held = resting_runs(project, task_id)
    return sum(not held.get(each.id, False) for each in live)


def _questions(project: Project, task_id: str) -> int:
    if not project.layout.decisions_dir.is_dir():
        return 0  # nobody ever asked: what reads questions would be an eighth of a prompt's time
    from siding.asking.lookup import open_questions

    return len(open_questions(project, task_id))


def _cut_off(layout: TaskLayout) -> int:
    if not intent_paths(layout):
        return 0
    from siding.record.ledger.intents import Intents

    intents = Intents(layout)
    try:
        return sum(intents.is_cut_off(each) for each in intents.all())
    except SidingError:
        return 1  # it cannot be read, which the next command in the task will say
