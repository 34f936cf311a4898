"""The table of moves: what is closed stays closed, and an illegal move changes nothing."""

import pytest

from siding.asking.decisions.record import (
    DECISION_MOVES,
    AlreadyClosed,
    DecisionMove,
    DecisionState,
    move_decision,
)


def test_every_state_has_its_line() -> None:
    assert set(DECISION_MOVES) == set(DecisionState)


@pytest.mark.parametrize("state", list(DecisionState))
@pytest.mark.parametrize("move", list(DecisionMove))
def test_only_an_open_decision_moves(state: DecisionState, move: DecisionMove) -> None:
    if state is DecisionState.OPEN:
        ended = {
            DecisionMove.ANSWER: DecisionState.ANSWERED,
            DecisionMove.CANCEL: DecisionState.CANCELLED,
        }
        assert move_decision(state, move) is ended[move]
        return
    with pytest.raises(AlreadyClosed, match=state.value):
        move_decision(state, move)
