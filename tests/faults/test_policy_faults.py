"""A blocked attempt under faults: nothing of it ever runs, and what is recorded says blocked."""

from pathlib import Path

import pytest

from .arena import Command, GateFailed
from .commands import GATE, ROOT, act, assert_whole, filled, steps, workspace_of
from .harness import KILLS, sweep
from .product import siding

pytestmark = GATE

ATTEMPT = ("sh", "-c", "touch ran; sudo true")


def guarded(case: Path) -> None:
    """As `filled`, in a repository whose policy is the built-in rules."""
    filled(case)
    (case / "repo/.siding/policy.yaml").write_text("version: 1\n", encoding="utf-8")


def attempt(*, fault: str = "") -> Command:
    """`siding run` of what is blocked; its exit status 5 is the promise that it is recorded."""
    inner = siding("run", "--", *ATTEMPT, fault=fault, cwd=ROOT)
    return inner._replace(argv=("sh", "-c", '"$@"; test $? = 5 && echo done', "sh", *inner.argv))


def blocked_holds(case: Path, promises: list[str]) -> None:
    act(case, "run", "-t", "alpha", "--", "true")
    found = [step for step in steps(case, "alpha") if step.get("cmd") == list(ATTEMPT)]
    assert len(found) <= 1, found
    assert found or not promises
    assert not (workspace_of(case, "alpha") / "ran").exists()
    for step in found:
        assert (step["status"], step["exit_code"]) == ("blocked", 5), step
        assert [event["rule"] for event in step["policy_events"]] == ["become-root"], step
    assert_whole(case, "alpha")


def test_a_blocked_attempt_is_killed_at_any_call() -> None:
    sweep(guarded, attempt(), blocked_holds, modes=KILLS, budget=3)


def test_a_call_fails_in_a_blocked_attempt() -> None:
    """The policy's file as well: one that cannot be read blocks, it does not allow."""
    sweep(guarded, attempt(), _never_ran, modes=("err:EIO", "err:ENOSPC", "err:EMFILE"), budget=3)


def test_the_gate_sees_a_verdict_that_is_written_too_late() -> None:
    with pytest.raises(GateFailed):
        sweep(
            guarded,
            attempt(fault="forget-verdict"),
            blocked_holds,
            modes=KILLS,
            budget=40,
            within=("home/projects",),
        )


def _never_ran(case: Path, promises: list[str]) -> None:
    act(case, "run", "-t", "alpha", "--", "true")
    found = [step for step in steps(case, "alpha") if step.get("cmd") == list(ATTEMPT)]
    assert found or not promises
    assert not (workspace_of(case, "alpha") / "ran").exists()
    assert all(step["status"] == "blocked" for step in found), found
