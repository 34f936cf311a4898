"""The states of a decision and the moves between them. No I/O, no clock.

open --answer--> answered        the first answer stands
open --cancel--> cancelled
"""

from collections.abc import Mapping
from enum import StrEnum

from siding.ground.errors import IllegalTransition


class DecisionState(StrEnum):
    """Whether a decision still waits for a person."""

    OPEN = "open"
    ANSWERED = "answered"
    CANCELLED = "cancelled"


class DecisionMove(StrEnum):
    """What can happen to a decision."""

    ANSWER = "answer"
    CANCEL = "cancel"


DECISION_MOVES: Mapping[DecisionState, Mapping[DecisionMove, DecisionState]] = {
    DecisionState.OPEN: {
        DecisionMove.ANSWER: DecisionState.ANSWERED,
        DecisionMove.CANCEL: DecisionState.CANCELLED,
    },
    DecisionState.ANSWERED: {},
    DecisionState.CANCELLED: {},
}


class AlreadyClosed(IllegalTransition):
    """The decision was answered or cancelled before, by somebody else. It was not changed."""

    code = "already_closed"


def move_decision(state: DecisionState, move: DecisionMove) -> DecisionState:
    """Return the state after `move`; raise AlreadyClosed when the table has none."""
    after = DECISION_MOVES[state].get(move)
    if after is None:
        raise AlreadyClosed(
            f"the decision is {state.value} already and cannot be changed",
            hint="`siding decide show SESSION` shows what was recorded",
        )
    return after
