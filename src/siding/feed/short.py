"""The state of a task in a few figures, for the prompt of a shell; what is not applied yet.

It starts no process.
"""

from collections.abc import Collection, Sequence
from typing import assert_never

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intent_files import intent_paths
from siding.record.ledger.kinds import StepStatus
from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
)
from siding.record.ledger.store import Ledger
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.logged import has_failed
from siding.record.runs.store import Runs

LOOKED_AT = 100  # steps: the answer costs the same however long a ledger is


class ShortStatus(NamedTuple):
    """A task: how many runs live, how many questions wait for a person, how much broke, and how
    many steps changed something that is not applied yet."""

    task: str
    runs: int
    questions: int
    broken: int
    unapplied: int


def short_status(project: Project, named: str | None) -> ShortStatus:
    """Return the figures of a task; write nothing.

    Broken are acts that were cut off, and the last step if it did not end well.
    """
    task = select(project, named)
    layout = project.task_layout(task.id)
    found = unapplied(project.ledger(task.id))
    failed = found.last is not None and has_failed(found.last) and not found.last.was_stopped
    return ShortStatus(
        task=task.name,
        runs=len(Runs(layout).live()),
        questions=_questions(project, task.id),
        broken=_cut_off(layout) + failed,
        unapplied=found.steps,
    )


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


class Unapplied(NamedTuple):
    """How many steps changed something since the last apply of the whole change, or the base.

    `since` is the snapshot that was applied then, "" for none; `last` the newest step.
    """

    steps: int
    since: str = ""
    last: Step | None = None


def unapplied(ledger: Ledger) -> Unapplied:
    """Return what the newest steps of a ledger say."""
    return unapplied_in(ledger.tail(LOOKED_AT))


def unapplied_in(steps: Sequence[Step]) -> Unapplied:
    """Return what these steps say, which are given oldest first. Pure.

    What was left behind, what a sync brought in, and applies that were taken back do not count.
    """
    line = present_line(steps).line
    stands: dict[str, bool] = {}  # applies that a later step took back (False) or did again (True)
    last = steps[-1] if steps else None
    count = 0
    for step in steps[::-1]:  # mypy does not know what `reversed` yields of steps
        match step:
            case ApplyUndoStep() | ApplyRedoStep():
                undoes, redoes = step.reversal
                stands.setdefault(undoes or redoes or "", redoes is not None)
            case ApplyStep():
                if stands.get(step.id, True) and _took_all(step):
                    return Unapplied(count, step.snapshot or "", last)
            case RunStep() | TurnStep() | CheckpointStep() | PhaseStep() | ForeignStep():
                count += _is_work(step, line)
            case RollbackStep() | UndoStep() | RedoStep() | MergeStep():
                count += _is_work(step, line)
            case _:
                assert_never(step)
    return Unapplied(count, last=last)


def _is_work(step: Step, line: Collection[int]) -> bool:
    return step.number in line and bool(step.files or step.modes) and not step.syncs


def _took_all(step: ApplyStep) -> bool:
    return step.detail.whole and step.status == StepStatus.COMPLETED
