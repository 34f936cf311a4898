"""Every move through the phases lives here. No I/O, no clock.

    nowhere   --start--> any phase
    underway  --next-step, back-step, issue, error--> the same phase
              --next-part--> the phase that follows    --back-part--> an earlier one
    last      as underway, but nothing follows: `start` begins a new pass

The step is a counter of moves, as in the seed: it grows with each of them, also with those that
go back, so that no two entries of a history have the same number.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from siding.errors import IllegalTransition


class PhaseMove(StrEnum):
    """What can happen; the words are the seed's `action`."""

    START = "start"
    NEXT_STEP = "next-step"
    BACK_STEP = "back-step"
    NEXT_PART = "next-part"
    BACK_PART = "back-part"
    ISSUE = "issue"
    ERROR = "error"


class Standing(StrEnum):
    """Where a task is, as far as the moves are concerned."""

    NOWHERE = "not in any phase"
    UNDERWAY = "underway"
    LAST = "in the last phase"


class Leads(StrEnum):
    """Which phase a move leads to."""

    ANY = "any phase"
    SAME = "the same phase"
    FOLLOWING = "the phase that follows"
    EARLIER = "an earlier phase"


class Position(NamedTuple):
    """The phase and the number of the step."""

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


def standing(phases: Sequence[str], at: Position | None) -> Standing:
    """Return where a position is."""
    if at is None:
        return Standing.NOWHERE
    return Standing.LAST if at.phase == phases[-1] else Standing.UNDERWAY


def move_phase(
    phases: Sequence[str], at: Position | None, move: PhaseMove, target: str | None
) -> Position:
    """Return the position after `move`; raise IllegalTransition when there is no such move.

    `target` is the phase to go to, None for moves within one.
    """
    where = standing(phases, at)
    leads = PHASE_MOVES[where].get(move)
    if leads is None:
        raise IllegalTransition(
            f"a task that is {where.value} cannot {move.value}",
            hint=f"possible now: {', '.join(PHASE_MOVES[where])}"
            + ("; or `start --again`, which ends this pass" if move is PhaseMove.START else ""),
        )
    if move is PhaseMove.BACK_STEP and at is not None and at.step < 2:
        raise IllegalTransition(
            "this is the first step: there is none to go back to",
            hint="`siding phase issue` records what is wrong with it",
        )
    if leads is Leads.SAME:
        assert at is not None
        return Position(at.phase, at.step + 1)
    _refuse_unreachable(phases, at, move, leads, target)
    assert target is not None
    return Position(target, 1 if at is None or leads is Leads.ANY else at.step + 1)


def _refuse_unreachable(
    phases: Sequence[str],
    at: Position | None,
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
            f"{move.value} leads to {leads.value}, and {target!r} is not one after {here!r}"
            if leads is Leads.FOLLOWING
            else f"{move.value} leads to {leads.value}, and {target!r} is none before {here!r}",
            hint=hint,
        )


def _reachable(phases: Sequence[str], at: Position | None, leads: Leads) -> Sequence[str]:
    if leads is Leads.ANY or at is None:
        return phases
    if at.phase not in phases:
        return ()  # the configuration has changed since
    here = list(phases).index(at.phase)
    return phases[here + 1 : here + 2] if leads is Leads.FOLLOWING else phases[:here]
