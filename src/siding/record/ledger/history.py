"""Work out what undo and redo would do next, from the steps alone. Pure.

The ledger only grows, so an undo and a redo are steps as well: an undo names its step in
``undoes``, a redo in ``redoes``. Reading the steps in order gives two stacks, as in an editor. The
stacks are not stored in a file, which could be lost or contradict the ledger.

Acts are what a person asked for: a run, a turn of a run, a rollback, an apply, a phase move. A
retry is one act of two steps, a rollback and a run; a turn is one act, however many steps it has. A
step that changed no part of the state is passed over, and redo goes on to work after it. Any other
checkpoint is no act: what it records was made by hand.

An undo or redo that was cut off changes neither stack: it is an *attempt*, and the next undo or
redo of the same step continues it.
"""

from collections.abc import Iterable, Sequence
from typing import assert_never

from siding.ground.namedtuples import NamedTuple
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
    StepStatus,
    TurnStep,
    UndoStep,
)


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
    passed: tuple[Step, ...] = ()  # steps after the newest act to undo that changed nothing


def position(steps: Iterable[Step], *, reopened_after: int | None = None) -> Position:
    """Return the stacks after `steps`, which are given oldest first.

    `reopened_after` is the number of the step after which the task was closed, if an undo opened
    the task again; None otherwise.
    """
    undoable: list[PastAct] = []
    redoable: list[PastAct] = []
    passed: list[Step] = []
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
                passed.clear()
            elif redoes:
                _pass_on(redoable, undoable, redoes, step)
                passed.clear()
        elif _does_nothing(step):
            attempt = attempt_before
            passed.append(step)
        else:
            if redoable:
                since = step
            redoable.clear()
            passed.clear()
            if _is_act(step):
                if _completes_retry(step, undoable) or _continues_turn(step, undoable):
                    undoable.pop()
                undoable.append(PastAct(step=step, by=step))
    if waiting:
        redoable.append(PastAct(step=None, by=None))
    return Position(
        undoable=tuple(undoable),
        redoable=tuple(redoable),
        attempt=attempt,
        since=since,
        passed=tuple(each for each in passed if isinstance(each, RunStep)),
    )


def is_decided(
    found: Position, newest: Sequence[Step], act: PastAct | None, *, reopened_after: int | None
) -> bool:
    """Tell whether `found`, worked out from the newest steps alone, has the right `act` on top.

    It has if nothing that these steps say refers to an older one: not a reversal, not the state
    that the act leads back to, not a retry, not the closing of the task.
    """
    if act is None or act.by is None or act.step is None or found.attempt in newest[:2]:
        return False
    if reopened_after is not None and newest[0].number > reopened_after:
        return False
    numbers = {step.id for step in newest[2:]}
    reversals = (step.reversal.of for step in newest if step.reversal.of)
    before = returns_to(act.by)
    return (
        act.step.id in numbers
        and numbers.issuperset(reversals)
        and any(s.snapshot == before for s in newest if s.number < act.by.number)
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


def _completes_retry(step: Step, undoable: list[PastAct]) -> bool:
    """Tell whether a run is one act with the newest one, which went back to do it again."""
    if not isinstance(step, RunStep) or not step.retries or not step.returns or not undoable:
        return False
    before = undoable[-1].step
    return (
        isinstance(before, RollbackStep)
        and before.retries == step.retries
        and before.parent == step.returns
    )


def _continues_turn(step: Step, undoable: list[PastAct]) -> bool:
    """Tell whether a step is one act with the newest one, an earlier step of the same turn."""
    before = undoable[-1].step if undoable else None
    if before is None or not step.turn or not step.returns:
        return False
    return (before.turn_of, before.turn) == (step.turn_of, step.turn)


def _does_nothing(step: Step) -> bool:
    """Tell whether a step keeps the redo stack: it changed no part of the state.

    A rollback is an act even then, so that the next undo takes it back and not an older act. An
    apply and a phase move change what lies outside the workspace.
    """
    match step:
        case RunStep() | TurnStep() | CheckpointStep():
            return step.parent is not None and step.snapshot == step.parent
        case RollbackStep() | UndoStep() | RedoStep() | MergeStep():
            return False
        case ApplyStep() | ApplyUndoStep() | ApplyRedoStep() | PhaseStep() | ForeignStep():
            return False
        case _:
            assert_never(step)


def _is_act(step: Step) -> bool:
    """Tell whether a person asked for what the step did, so that an undo takes it back."""
    match step:
        case ApplyStep() | ApplyUndoStep() | ApplyRedoStep():
            return step.status == StepStatus.COMPLETED
        case RunStep() | PhaseStep() | TurnStep():
            return step.parent is not None and step.snapshot is not None
        case RollbackStep() | UndoStep() | RedoStep() | MergeStep():
            return step.parent is not None and step.status in (
                StepStatus.COMPLETED,
                StepStatus.INTERRUPTED,
            )
        case CheckpointStep() | ForeignStep():
            return False
        case _:
            assert_never(step)
