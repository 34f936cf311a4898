"""The moves as a law: for every position and move, the table and nothing else decides."""

from itertools import product

import pytest

from siding.ground.errors import IllegalTransition
from siding.record.phases.states import (
    PHASE_MOVES,
    Leads,
    PhaseMove,
    PhasePosition,
    Standing,
    move_phase,
    standing,
)

PHASES = ("design", "impl", "verify", "finish")
POSITIONS = (None, *(PhasePosition(phase, step) for phase in PHASES for step in (1, 2, 3, 17)))
TARGETS = (*PHASES, "none", None)


def allowed(at: PhasePosition | None, move: PhaseMove, target: str | None) -> bool:
    """The rules again, from the words of the description, without the table."""
    if move is PhaseMove.START:
        return (at is None or at.phase == PHASES[-1]) and target in PHASES
    if at is None:
        return False
    if move is PhaseMove.BACK_STEP:
        return at.step > 1
    if move in (PhaseMove.NEXT_STEP, PhaseMove.ISSUE, PhaseMove.ERROR):
        return True
    if target not in PHASES:
        return False
    here, there = PHASES.index(at.phase), PHASES.index(target)
    return there == here + 1 if move is PhaseMove.NEXT_PART else there < here


def check(at: PhasePosition | None, move: PhaseMove, target: str | None) -> None:
    if not allowed(at, move, target):
        with pytest.raises(IllegalTransition) as caught:
            move_phase(PHASES, at, move, target)
        assert caught.value.hint
        return
    after = move_phase(PHASES, at, move, target)
    if move is PhaseMove.START:
        assert after == PhasePosition(str(target), 1)
        return
    assert at is not None
    assert after.step == at.step + 1
    leads = PHASE_MOVES[standing(PHASES, at)][move]
    assert after.phase == (at.phase if leads is Leads.SAME else target)


def test_a_move_is_made_or_refused_as_described() -> None:
    for at, move, target in product(POSITIONS, PhaseMove, TARGETS):
        check(at, move, target)


def test_every_standing_has_its_line() -> None:
    assert set(PHASE_MOVES) == set(Standing)


@pytest.mark.parametrize("move", [PhaseMove.NEXT_PART, PhaseMove.BACK_PART])
def test_a_phase_that_was_taken_out_of_the_settings_leads_nowhere(move: PhaseMove) -> None:
    with pytest.raises(IllegalTransition):
        move_phase(PHASES, PhasePosition("old", 3), move, "impl")
    assert move_phase(PHASES, PhasePosition("old", 3), PhaseMove.NEXT_STEP, None) == PhasePosition(
        "old", 4
    )


@pytest.mark.parametrize(
    ("at", "move", "target", "message", "hint"),
    [
        (None, "next-step", None, "not in any phase cannot next-step", "possible now: start"),
        ("impl", "start", "impl", "underway cannot start", "--again` ends the present pass"),
        ("finish", "next-part", "x", "in the last phase cannot next-part", "now: next-step"),
        ("impl", "back-step", None, "the first step", "siding phase issue"),
        ("impl", "next-part", "x", "no phase 'x'", "design, impl, verify, finish"),
        ("design", "next-part", "verify", "'verify' does not follow 'design'", "possible: impl"),
        (
            "verify",
            "back-part",
            "verify",
            "'verify' is not before 'verify'",
            "possible: design, impl",
        ),
        ("design", "back-part", "impl", "'impl' is not before 'design'", "none from here"),
    ],
)
def test_a_refusal_says_what_is_possible(
    at: str | None, move: str, target: str | None, message: str, hint: str
) -> None:
    where = None if at is None else PhasePosition(at, 1)
    with pytest.raises(IllegalTransition, match=message) as caught:
        move_phase(PHASES, where, PhaseMove(move), target)
    assert hint in str(caught.value.hint)
    assert ("--again" in str(caught.value.hint)) == (move == "start")
