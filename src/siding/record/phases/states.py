"""The moves between phases, as a table. No I/O, no clock.

    nowhere   --start--> any phase
    underway  --next-step, back-step, issue, error--> the same phase
              --next-part--> the phase that follows    --back-part--> an earlier one
    last      as underway, but nothing follows: `start` begins a new pass

A position's step counts the moves of the pass. It grows with each move, also with a move back, so
that each entry of the history has a number of its own.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from siding.ground.errors import IllegalTransition
from siding.ground.namedtuples import NamedTuple


class PhaseMove(StrEnum):
    """The moves. The values are the words in `action` of ``flow-status.json``."""

    START = "start"
    NEXT_STEP = "next-step"
    BACK_STEP = "back-step"
    NEXT_PART = "next-part"
    BACK_PART = "back-part"
    ISSUE = "issue"
    ERROR = "error"


class Standing(StrEnum):
    """The states of the table: which moves are possible depends on nothing else."""

    NOWHERE = "not in any phase"
    UNDERWAY = "underway"
    LAST = "in the last phase"


class Leads(StrEnum):
    """To which phase a move leads."""

    ANY = "any phase"
    SAME = "the same phase"
    FOLLOWING = "the phase that follows"
    EARLIER = "an earlier phase"


class PhasePosition(NamedTuple):
    """A phase, and the number of the step, counted from 1."""

    phase: str
    step: int


_WITHIN: Mapping[PhaseMove, Leads] = {
    PhaseMove.NEXT_STEP: Leads.SAME,
    PhaseMove.BACK_STEP: Leads.SAME,
    PhaseMove.ISSUE: Leads.SAME,
    PhaseMove.ERROR: Leads.SAME,
    PhaseMove.BACK_PART: Leads.EARLIER,
}
PHASE_MOVES: Mapping[Standing, Mapping[PhaseMove, Leads]] = {
    Standing.NOWHERE: {PhaseMove.START: Leads.ANY},
    Standing.UNDERWAY: {**_WITHIN, PhaseMove.NEXT_PART: Leads.FOLLOWING},
    Standing.LAST: {**_WITHIN, PhaseMove.START: Leads.ANY},
}


def standing(phases: Sequence[str], at: PhasePosition | None) -> Standing:
    """Return the state of the table for a position; None stands for a task without a pass."""
    if at is None:
        return Standing.NOWHERE
    return Standing.LAST if at.phase == phases[-1] else Standing.UNDERWAY


def move_phase(
    phases: Sequence[str], at: PhasePosition | None, move: PhaseMove, target: str | None
) -> PhasePosition:
    """Return the position after `move`; raise IllegalTransition if the move is not possible.

    `target` is the phase to go to, None for a move within a phase.
    """
    where = standing(phases, at)
    leads = PHASE_MOVES[where].get(move)
    if leads is None:
        again = "`siding phase start --again` ends the present pass and begins another; "
        raise IllegalTransition(
            f"a task that is {where.value} cannot {move.value}",
            hint=f"{again if move is PhaseMove.START else ''}possible now: "
            f"{', '.join(PHASE_MOVES[where])}",
        )
    if move is PhaseMove.BACK_STEP and at is not None and at.step < 2:
        raise IllegalTransition(
            "this is the first step: there is none to go back to",
            hint="`siding phase issue` records what is wrong with it",
        )
    if leads is Leads.SAME:
        assert at is not None
        return PhasePosition(at.phase, at.step + 1)
    _refuse_unreachable(phases, at, move, leads, target)
    assert target is not None
    return PhasePosition(target, 1 if at is None or leads is Leads.ANY else at.step + 1)


def _refuse_unreachable(
    phases: Sequence[str],
    at: PhasePosition | None,
    move: PhaseMove,
    leads: Leads,
    target: str | None,
) -> None:
    if target not in phases:
        raise IllegalTransition(
            f"there is no phase {target!r}", hint=f"the phases are {', '.join(phases)}"
        )
    allowed = _reachable(phases, at, leads)
    if target not in allowed:
        hint = f"possible: {', '.join(allowed)}" if allowed else "none from here"
        here = at.phase if at is not None else "nowhere"
        raise IllegalTransition(
            f"{move.value} leads to {leads.value}, and {target!r} does not follow {here!r}"
            if leads is Leads.FOLLOWING
            else f"{move.value} leads to {leads.value}, and {target!r} is not before {here!r}",
            hint=hint,
        )


def _reachable(phases: Sequence[str], at: PhasePosition | None, leads: Leads) -> Sequence[str]:
    if leads is Leads.ANY or at is None:
        return phases
    if at.phase not in phases:
        return ()  # the configuration has changed since
    here = list(phases).index(at.phase)
    return phases[here + 1 : here + 2] if leads is Leads.FOLLOWING else phases[:here]
