"""Tell from the newest steps of a task what has not been applied yet. Starts no process."""

from collections.abc import Collection, Sequence
from typing import assert_never

from siding.ground.namedtuples import NamedTuple
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

LOOKED_AT = 100  # steps: the answer costs the same however long a ledger is


class Unapplied(NamedTuple):
    """How many steps changed something since the last apply of the whole change, or the base.

    `applied` is that apply, None for none; `last` the newest step.
    """

    steps: int
    applied: ApplyStep | None = None
    last: Step | None = None

    @property
    def since(self) -> str:
        """The snapshot that was applied, "" for none."""
        return (self.applied and self.applied.snapshot) or ""


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
                    return Unapplied(count, step, last)
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
