"""Going back and applying: killed again while recovering (P2), the power fails (P3), short writes
(P5)."""

import os

import pytest

from . import test_apply_faults as applying
from . import test_undo_faults as undoing
from . import tracer
from .arena import Check, Command, GateFailed, Setup
from .harness import sweep
from .powercut import powercut
from .product import siding

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(900),
]

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "1"))
ACTS: dict[str, tuple[Setup, tuple[str, ...], Check]] = {
    "rollback": (undoing.begun, ("rollback", "--step", "1"), undoing.rollback_holds),
    "rollback --hard": (
        undoing.begun,
        ("rollback", "--step", "1", "--hard"),
        undoing.two_is_reached_by_undo,
    ),
    "undo": (undoing.rolled_back, ("undo",), undoing.two_is_reached_by_undo),
    "close": (
        undoing.begun,
        ("task", "close", "--force", "T"),
        undoing.two_is_reached_by_reopening,
    ),
    "reopen": (undoing.closed, ("task", "reopen", "T"), undoing.two_is_reached_by_reopening),
    "gc": (undoing.closed, ("gc",), undoing.two_is_reached_by_reopening),
    "apply": (applying.begun, ("apply", "--no-close"), applying.apply_holds),
    "undo of an apply": (applying.applied, ("undo",), applying.undo_holds),
}


def victim(words: tuple[str, ...]) -> Command:
    return siding(*words)


@pytest.mark.parametrize("name", ACTS)
def test_killed_again_while_recovering(name: str) -> None:
    setup, words, check = ACTS[name]
    # For whatever is closed there is nothing to mend but what was cut off.
    sweep(setup, victim(words), check, modes=("nested",), budget=BUDGET, recover=siding("doctor"))


@pytest.mark.parametrize("name", ["rollback", "undo", "close", "reopen", "gc"])
def test_the_power_fails(name: str) -> None:
    """Not an apply: what git writes into a checkout of the person's is git's to flush."""
    setup, words, check = ACTS[name]
    powercut(setup, victim(words), check, fs="ordered", budget=2 * BUDGET)


@pytest.mark.parametrize("name", ["rollback", "gc", "apply"])
def test_a_short_write_goes_unnoticed(name: str) -> None:
    setup, words, check = ACTS[name]
    sweep(setup, victim(words), check, modes=("short",), budget=BUDGET)


def test_a_rollback_that_flushes_nothing_would_be_seen() -> None:
    setup, words, check = ACTS["rollback"]
    careless = siding(*words, fault="skip-fsync")
    with pytest.raises(GateFailed):
        powercut(setup, careless, check, fs="ordered", budget=60)
