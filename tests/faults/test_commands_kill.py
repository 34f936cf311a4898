"""Killed at any call (P1, P13), killed again while recovering (P2): the next command just works."""

import pytest

from .acts import ACTS, Act
from .commands import GATE
from .harness import KILLS, sweep
from .product import siding

pytestmark = GATE


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_killed_at_any_call(act: Act) -> None:
    sweep(act.setup, act.command(), act.check, modes=KILLS, budget=1)


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("run", ("run", "--wait", "--", "true")),
        ("task start", ("doctor",)),
        ("worktree remove", ("doctor",)),
        ("task close", ("run", "-t", "beta", "--", "true")),
    ],
)
def test_killed_again_while_recovering(name: str, again: tuple[str, ...]) -> None:
    act = ACTS[name]
    sweep(act.setup, act.command(), act.check, modes=("nested",), budget=3, recover=siding(*again))
