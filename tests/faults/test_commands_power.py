"""The power fails (P3), and each mistake that is planted is caught by its gate."""

from collections.abc import Callable

import pytest

from .acts import ACTS
from .arena import GateFailed
from .commands import GATE
from .harness import sweep
from .powercut import powercut

pytestmark = GATE


@pytest.mark.parametrize(
    "name", ["first run", "run", "checkpoint", "task start", "worktree remove", "task close"]
)
def test_the_power_fails_while_git_is_at_work(name: str) -> None:
    act = ACTS[name]
    powercut(act.setup, act.command(), act.check, fs="ordered", budget=2)


@pytest.mark.parametrize("name", ["run", "init", "task switch", "task update", "trust"])
def test_the_power_fails_and_nothing_arrives_in_order(name: str) -> None:
    act = ACTS[name]
    powercut(act.setup, act.command(), act.check, fs="strict", budget=2)


PLANTED: dict[str, Callable[[], object]] = {
    "skip-fsync": lambda: powercut(
        ACTS["task update"].setup,
        ACTS["task update"].command("skip-fsync"),
        ACTS["task update"].check,
        fs="ordered",
        budget=40,
    ),
    "skip-directory-fsync": lambda: powercut(
        ACTS["task update"].setup,
        ACTS["task update"].command("skip-directory-fsync"),
        ACTS["task update"].check,
        budget=40,
    ),
    "truncate-rewrite": lambda: sweep(
        ACTS["task update"].setup,
        ACTS["task update"].command("truncate-rewrite"),
        ACTS["task update"].check,
        modes=("kill", "torn"),
        budget=16,
        among=lambda call: "/task.json" in call,  # where the mistake is
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_each_planted_fault_is_caught(fault: str) -> None:
    with pytest.raises(GateFailed):
        PLANTED[fault]()
