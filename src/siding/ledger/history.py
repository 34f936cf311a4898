"""What undo and redo would do next: read from the steps alone. Pure.

The ledger only grows, so going back and forth is itself a row of steps: one that takes back another
names it in ``undoes``, one that does it again in ``redoes``. Reading them in order gives two
stacks, as in an editor. There is no file with a stack that could be lost or disagree.

A step that was cut off while it undid or redid something changes neither stack: it is an
*attempt*, and the next undo or redo of the same step goes on with it.
"""

from collections.abc import Iterable
from typing import NamedTuple

from siding.ledger.step import Step, StepKind, StepStatus

_REVERSIBLE = (StepKind.ROLLBACK.value, StepKind.APPLY.value)


class PastAct(NamedTuple):
    """Something that can be undone, or redone.

    `step` is the act itself and `by` the step that did or took it back last; both None for a
    closing of the task, which is no step.
    """

    step: Step | None
    by: Step | None


class Position(NamedTuple):
    """Where a task stands between undo and redo; the last of each comes next."""

    undoable: tuple[PastAct, ...]
    redoable: tuple[PastAct, ...]
    attempt: Step | None  # the newest step, when it is an undo or redo that was cut off
    since: Step | None  # the step that ended the last line of redoing


def position(steps: Iterable[Step], *, reopened_after: int | None = None) -> Position:
    """Return the position after `steps`, oldest first.

    `reopened_after`: the task was closed after this step, and an undo opened it again.
    """
    undoable: list[PastAct] = []
    redoable: list[PastAct] = []
    attempt: Step | None = None
    since: Step | None = None
    waiting = reopened_after is not None
    for step in steps:
        if waiting and reopened_after is not None and step.number > reopened_after:
            redoable.append(PastAct(step=None, by=None))
            waiting = False
        attempt_before, attempt = attempt, None
        undoes, redoes = step.reversal
        if undoes or redoes:
            if step.status != StepStatus.COMPLETED:
                attempt = step
            elif undoes:
                _pass_on(undoable, redoable, undoes, step)
            elif redoes:
                _pass_on(redoable, undoable, redoes, step)
        elif _does_nothing(step):
            attempt = attempt_before
        else:
            if redoable:
                since = step
            redoable.clear()
            if _is_act(step):
                undoable.append(PastAct(step=step, by=step))
    if waiting:
        redoable.append(PastAct(step=None, by=None))
    return Position(
        undoable=tuple(undoable), redoable=tuple(redoable), attempt=attempt, since=since
    )


def returns_to(by: Step) -> str | None:
    """Return the snapshot that taking back `by` leads to."""
    return by.returns or by.parent


def _pass_on(source: list[PastAct], target: list[PastAct], named: str, by: Step) -> None:
    for index in range(len(source) - 1, -1, -1):
        step = source[index].step
        if step is not None and step.id == named:
            target.append(source.pop(index)._replace(by=by))
            return


def _does_nothing(step: Step) -> bool:
    """A checkpoint of an unchanged workspace takes no one's redo away; a run does."""
    return step.kind == StepKind.CHECKPOINT and step.snapshot == step.parent


def _is_act(step: Step) -> bool:
    if step.kind not in _REVERSIBLE:
        return False
    if step.kind == StepKind.APPLY:
        return step.status == StepStatus.COMPLETED
    return step.parent is not None and step.status in (
        StepStatus.COMPLETED,
        StepStatus.INTERRUPTED,
    )
