"""A process that does not hold the task's lock cannot damage the task's ledger.

The lock is what keeps commands apart. These tests plant the mistake that it is not taken: the
numbers of the steps must grow all the same, and what cannot be recorded is kept.
"""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import installed
import planted
from sandbox import Sandbox


@pytest.fixture
def user(tmp_path: Path) -> Sandbox:
    sandbox = Sandbox(tmp_path, program=[installed.program()])
    sandbox.siding("task", "start", "busy")
    return sandbox


@contextmanager
def started_run(user: Sandbox) -> Iterator["subprocess.Popen[bytes]"]:
    """Yield a run that goes on until `over` is there, stopped; it goes on after the block."""
    script = "echo early; echo a > a; touch started; while test ! -e over; do sleep 0.1; done"
    with subprocess.Popen(
        [*user.program, "run", "--", "sh", "-c", script],
        cwd=user.repo,
        env=user.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as first:
        workspace = user.workspace()
        try:
            _wait_for(workspace / "started")
            first.send_signal(signal.SIGSTOP)
            yield first
        finally:
            first.send_signal(signal.SIGCONT)
            (workspace / "over").touch()
        first.communicate(timeout=60)


def _told(user: Sandbox) -> list[tuple[object, object, object]]:
    return [
        (each["step_id"], each.get("cmd", [each["kind"]])[0], each["status"])
        for each in user.steps()
    ]


def test_a_run_that_lives_is_not_taken_for_a_dead_one(user: Sandbox) -> None:
    """Its intent has a lock of its own. Whoever ends first has the lower number."""
    with started_run(user):
        user.siding("run", "--", "true", env=planted.environment("skip-task-lock"))
    assert _told(user) == [
        ("0001", "checkpoint", "completed"),  # what the first had changed by then
        ("0002", "true", "completed"),
        ("0003", "sh", "completed"),
    ]
    assert b"early" in user.siding("show", "3").stdout
    _ledger_is_in_order(user)


def test_a_run_that_another_ended_and_recorded_is_recorded_all_the_same(user: Sandbox) -> None:
    """Without any lock the second run takes the first for dead, and ends its command."""
    with started_run(user):
        user.siding("run", "--", "true", env=planted.environment("skip-lock"))
    assert _told(user) == [
        ("0001", "sh", "interrupted"),
        ("0002", "true", "completed"),
        ("0003", "sh", "failed"),
    ]
    assert b"early" in user.siding("show", "1").stdout
    _in_order_and_usable(user)


def test_many_who_skip_the_lock_never_give_a_number_twice(user: Sandbox) -> None:
    env = {**user.env, **planted.environment("skip-task-lock")}
    commands = [
        subprocess.Popen(
            [*user.program, "checkpoint", "-m", f"mark {number}"],
            cwd=user.repo,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for number in range(6)
    ]
    for command in commands:
        command.wait(timeout=60)  # some are refused, or find what another took away
    numbers = [int(step["step_id"]) for step in user.steps()]
    assert numbers
    assert numbers == sorted(set(numbers))
    ledger = user.siding("verify", "--format", "json", status=None)
    problems = [each["problem"] for each in json.loads(ledger.stdout)["findings"]]
    assert not [each for each in problems if "comes after" in each], problems


def _in_order_and_usable(user: Sandbox) -> None:
    """Both runs brought the same output into its last form, so only the ledger is promised."""
    _ledger_is_in_order(user)
    user.siding("run", "--", "sh", "-c", "echo more > more")
    assert user.steps()[-1]["diff_stat"]["file_list"] == ["more"]
    _ledger_is_in_order(user)


def _ledger_is_in_order(user: Sandbox) -> None:
    ledger = user.siding("verify", "--format", "json", status=None)
    findings = json.loads(ledger.stdout)["findings"]
    assert not [each for each in findings if "artifacts/" not in each["where"]], findings


def _wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, path
        time.sleep(0.02)
