"""The planted mistakes that the gates of rollback, undo, redo, close, gc and apply must catch."""

import pytest

from . import test_apply_faults as applying
from . import test_undo_faults as undoing
from . import tracer
from .arena import SEED, Check, Command, GateFailed, Setup
from .harness import sweep
from .product import siding

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(900),
]

HOME = ("home/projects",)
NO_INTENT: dict[str, tuple[Setup, tuple[str, ...], Check]] = {
    "rollback --hard": (
        undoing.begun,
        ("rollback", "--step", "1", "--hard"),
        undoing.two_is_reached_by_undo,
    ),
    "undo": (undoing.rolled_back, ("undo",), undoing.two_is_reached_by_undo),
    "redo": (undoing.undone, ("redo",), undoing.one_is_reached_by_redo),
    "close": (
        undoing.begun,
        ("task", "close", "--force", "T"),
        undoing.two_is_reached_by_reopening,
    ),
    "reopen": (undoing.closed, ("task", "reopen", "T"), undoing.two_is_reached_by_reopening),
    "gc": (undoing.closed, ("gc",), undoing.two_is_reached_by_reopening),
}


def planted(fault: str, *words: str) -> Command:
    return siding(*words, fault=fault)


# Where the mistake was met, as a share of the samples, from the last call on: it saves cases.
MET_AT = {"gc": 0.56, "close": 0.25, "reopen": 0.38}
SEEDS = {"undo": SEED}


@pytest.mark.parametrize("name", NO_INTENT)
def test_an_act_that_is_not_written_down_first(name: str) -> None:
    # Samples of seeds 1 to 6 meet it; those of the chosen ones meet it early.
    setup, words, check = NO_INTENT[name]
    seed, start = SEEDS.get(name, SEED + 2), MET_AT.get(name, 0)
    victim = planted("skip-intent", *words)
    with pytest.raises(GateFailed):
        sweep(setup, victim, check, modes=("kill",), budget=32, seed=seed, within=HOME, start=start)


def test_an_apply_that_is_not_written_down_first() -> None:
    victim = planted("skip-intent", "apply", "--no-close")
    with pytest.raises(GateFailed):
        sweep(
            applying.begun,
            victim,
            applying.apply_holds,
            modes=("kill",),
            budget=8,
            within=("repo",),
        )


def test_a_rollback_that_takes_no_lock_of_the_task() -> None:
    """Two at once in one task: the number of a step is given twice, or one is lost."""
    rival = planted("skip-lock", "run", "--", "touch", "beside")
    victim = planted("skip-lock", "rollback", "--step", "1")
    with pytest.raises(GateFailed):
        sweep(
            undoing.begun,
            victim,
            undoing.rollback_holds,
            modes=("stop",),
            budget=16,
            rival=rival,
            within=HOME,
        )
