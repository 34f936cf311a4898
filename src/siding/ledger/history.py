"""Work out what undo and redo would do next, from the steps alone. Pure.

The ledger only grows, so an undo and a redo are steps as well: an undo names its step in
``undoes``, a redo in ``redoes``. Reading the steps in order gives two stacks, as in an editor. The
stacks are not stored in a file, which could be lost or contradict the ledger.

An undo or redo that was cut off changes neither stack: it is an *attempt*, and the next undo or
redo of the same step continues it.
"""

from collections.abc import Iterable

from siding.ledger.step import Step, StepKind, StepStatus
from siding.namedtuples import NamedTuple

_REVERSIBLE = (StepKind.ROLLBACK.value, StepKind.APPLY.value)


class PastAct(NamedTuple):
    """An act that can be undone or redone.

    `step` is the act itself. `by` is the step that did, undid or redid it last. Both are None for
    the closing of the task, which is not a step.
    """

    step: Step | None
    by: Step | None


class Position(NamedTuple):
    """The undo and redo stacks of a task; the last item of each is the next to use."""

    undoable: tuple[PastAct, ...]
    redoable: tuple[PastAct, ...]
    attempt: Step | None  # the newest step, if it is an undo or redo that was cut off
    since: Step | None  # the step that last emptied the redo stack


def position(steps: Iterable[Step], *, reopened_after: int | None = None) -> Position:
    """Return the stacks after `steps`, which are given oldest first.

    `reopened_after` is the number of the step after which the task was closed, if an undo opened
    the task again; None otherwise.
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
    """Return the snapshot that an undo of the step `by` restores; None if it is unknown."""
    return by.returns or by.parent


def _pass_on(source: list[PastAct], target: list[PastAct], named: str, by: Step) -> None:
    """Move the newest act with the id `named` from one stack to the other."""
    for index in range(len(source) - 1, -1, -1):
        step = source[index].step
        if step is not None and step.id == named:
            target.append(source.pop(index)._replace(by=by))
            return


def _does_nothing(step: Step) -> bool:
    """Tell whether a step keeps the redo stack: a checkpoint of an unchanged workspace does."""
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
