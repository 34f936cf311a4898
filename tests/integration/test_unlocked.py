"""A process that does not hold the task's lock cannot damage the task's ledger.

The lock is what keeps commands apart. These tests plant the mistake that it is not taken: the
numbers of the steps must grow all the same, and what cannot be recorded is kept.
"""

import json
import signal
import subprocess
import time
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


def test_a_step_whose_number_was_taken_is_refused_and_kept(user: Sandbox) -> None:
    """The second run takes the first for dead, ends its command and records it as interrupted."""
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
            first.send_signal(signal.SIGSTOP)  # it goes on when the other is done
            user.siding("run", "--", "true", env=planted.environment("skip-lock"))
        finally:
            first.send_signal(signal.SIGCONT)
            (workspace / "over").touch()  # for a command that nobody ended
        _out, err = first.communicate(timeout=60)
    assert first.returncode == 1, err
    told = err.decode()
    assert "step 0001 cannot be recorded: the ledger already has step 0002" in told
    assert [(step["step_id"], step["status"]) for step in user.steps()] == [
        ("0001", "interrupted"),
        ("0002", "completed"),
    ]
    (kept,) = user.project.glob("tasks/*/unrecorded-0001-*.json")
    assert str(kept) in told
    (output,) = user.project.glob("tasks/*/artifacts/0001.output")
    assert str(output) in told
    assert b"early" in user.siding("show", "1").stdout
    record = json.loads(kept.read_bytes())
    assert (record["step_id"], record["cmd"]) == ("0001", ["sh", "-c", script])
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
