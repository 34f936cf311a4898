"""Commands side by side (P7): a second one at any call of the first, and many, some killed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from .acts import ACTS
from .arena import Check, Command, GateFailed, depth
from .commands import GATE, ROOT, WORK, act, answer, board, doubled, filled, promising, steps, works
from .hammer import hammer
from .harness import sweep
from .product import siding

pytestmark = GATE


def updates_hold(case: Path, promises: list[str]) -> None:
    """Both said done: neither update is lost."""
    task = answer(case, "task", "show", "alpha", "--format", "json")
    said = {"owner": task["owner"], "description": task["metadata"].get("description", "")}
    if len(promises) == 2:
        assert said == {"owner": "me", "description": "mine"}
    works(case)


def steps_hold(case: Path, promises: list[str]) -> None:
    found = works(case)
    done = [
        step for step in found if step.get("message") == "rival" or step.get("cmd") == list(WORK)
    ]
    assert len(done) >= promises.count("done"), (promises, found)


def both_start(case: Path, promises: list[str]) -> None:
    started = [name for name in ("gamma", "delta") if name in board(case)]
    assert len(started) >= len(promises)
    for name in started:
        works(case, name, first=0)
    works(case)


PAIRS: dict[str, tuple[str, Callable[[], Command], Check]] = {
    "two updates": (
        "task update",
        lambda: promising("task", "update", "alpha", "-m", "mine"),
        updates_hold,
    ),
    "run, checkpoint": (
        "run",
        lambda: promising("checkpoint", "--wait", "-m", "rival"),
        steps_hold,
    ),
    "two starts": (
        "task start",
        lambda: promising("task", "start", "delta", "--no-switch"),
        both_start,
    ),
    "start, doctor": ("task start", lambda: siding("doctor"), ACTS["task start"].check),
    "close, run beside it": (
        "task close",
        lambda: siding("run", "-t", "beta", "--", "true"),
        ACTS["task close"].check,
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_second_command_comes_at_any_call(pair: str) -> None:
    name, rival, check = PAIRS[pair]
    it = ACTS[name]
    budget = depth(1, prove=2)
    sweep(it.setup, it.command(), check, modes=("stop",), budget=budget, rival=rival())


def test_a_lost_update_would_be_seen() -> None:
    it = ACTS["task update"]
    rival = promising("task", "update", "alpha", "-m", "mine", fault="skip-lock")
    with pytest.raises(GateFailed):
        sweep(
            it.setup,
            it.command("skip-lock"),
            updates_hold,
            modes=("stop",),
            budget=17,
            rival=rival,
            among=lambda call: "/task.json" in call,  # the file that both change
        )


def worker(number: int) -> Command:
    """Runs, updates and reads; each that ended well is one promise."""
    script = f"""
"$@" run --wait -t alpha -- sh -c 'echo {number} > f-{number}' >&2 && echo run {number}
"$@" checkpoint --wait -t alpha -m 'mark {number}' && echo mark {number}
"$@" task update beta --tags t{number} && echo update {number}
"$@" run --wait -t beta -- sh -c 'echo {number} >> log' >&2 && echo beta {number}
"$@" status -t alpha > /dev/null
"""
    program = siding()
    return program._replace(argv=("sh", "-c", script, "sh", *program.argv), cwd=ROOT)


def hammered(case: Path, promises: list[str]) -> None:
    alpha, beta = steps(case, "alpha"), steps(case, "beta")
    ran = [
        step["cmd"][2].split()[1]
        for step in alpha + beta
        if step["kind"] == "run" and step["status"] == "completed"
    ]
    marks = [step.get("message") for step in alpha]
    for promise in promises:
        what, number = promise.split()
        if what == "mark":
            assert marks.count(f"mark {number}") == 1, (promise, marks)
        elif what != "update":
            assert number in ran, (promise, ran)
    works(case)
    works(case, "beta", first=0)


def test_many_commands_some_killed_some_frozen() -> None:
    def read(case: Path) -> None:
        act(case, "status", "-t", "alpha")
        act(case, "log", "-t", "alpha")
        act(case, "task", "list")

    hammer(doubled, worker, hammered, processes=5, rounds=1, reader=read)


def test_a_run_in_a_busy_task_says_who_is_there() -> None:
    def check(case: Path, promises: list[str]) -> None:
        assert promises.count("done") <= 1 or len(steps(case, "alpha")) >= 3
        works(case)

    sweep(
        filled,
        ACTS["run"].command(),
        check,
        modes=("stop",),
        budget=depth(1, prove=2),
        rival=promising("run", "--", "sh", "-c", "echo rival > rival"),
    )
