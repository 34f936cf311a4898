"""Find the line: the steps that led to the present state. Pure.

Each step stands on another one: the step before it, or for a step that went back with all parts of
the state, the one that it went to. Following this from the newest step gives the line. All others
are *left behind*: they are kept, and an undo, a redo or a rollback reaches them again. A step that
only went from one recorded state to another did no work of its own, so it is neither.
"""

from collections.abc import Iterable
from itertools import pairwise

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.kinds import BASE, StepStatus
from siding.record.ledger.step import Step


class PresentLine(NamedTuple):
    """The line through some steps, which may be only the newest ones of a ledger.

    `stands_on` maps each number to that of the step it stands on, never one that only went back;
    0 is the base. It is empty for a ledger of another tool whose numbers begin again: there all
    steps count as the line. `returns` are the steps that only went to another state.
    """

    stands_on: dict[int, int]
    line: frozenset[int]
    returns: frozenset[int]

    @property
    def left_behind(self) -> frozenset[int]:
        """The steps that did something that the present state does not have."""
        return frozenset(self.stands_on.keys() - self.line - self.returns)

    def on(self, number: int) -> int:
        """Return the number of the step that this one stands on; 0 is the base."""
        return self.stands_on.get(number, max(0, number - 1))


def present_line(steps: Iterable[Step]) -> PresentLine:
    """Return the line through these steps, given oldest first, without a gap at the end."""
    given = list(steps)
    numbers = [step.number for step in given]
    if any(later <= number for number, later in pairwise([0, *numbers])):
        return PresentLine({}, frozenset(numbers), frozenset())
    stands_on: dict[int, int] = {}
    returns: set[int] = set()
    previous = None
    for step in given:
        before = step.number - 1 if previous is None else previous
        on, goes = _place(step, before)
        while on in returns:
            on = stands_on[on]
        stands_on[step.number] = on
        if goes:
            returns.add(step.number)
        previous = step.number
    line: set[int] = set()
    at = previous or 0
    while at in stands_on:
        if at not in returns:
            line.add(at)
        at = stands_on[at]
    return PresentLine(stands_on, frozenset(line), frozenset(returns))


def _place(step: Step, before: int) -> tuple[int, bool]:
    """Return the number of the step that this one stands on, and whether it only went there."""
    if not step.goes_back or step.status != StepStatus.COMPLETED:
        return before, False
    named = step.on if step.took_all_parts else "" if step.on else _goes_to(step)
    target = _number(named)
    return (before, False) if target is None or target >= step.number else (target, True)


def _goes_to(step: Step) -> str:
    """Return where a rollback of before went, "" if only some paths did."""
    back = step.as_rollback
    if back is None or back.paths:
        return ""
    return BASE if back.target == BASE else back.target_step or ""


def _number(named: str) -> int | None:
    if named == BASE:
        return 0
    try:
        return int(named)
    except ValueError:
        return None
