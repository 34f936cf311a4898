"""kill -9 of an act while runs are paused: the next command lets them go on, and recovers."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from siding.ground.process import pauser as processes
from siding.ground.process import procfs_details
from siding.record.acts import pausing
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.record.restoring import act as restore_act
from siding.record.restoring.rollback import RollbackRequest, rollback

TICKING = "(echo $$ >inner; while :; do echo x >>ticks; sleep .003; done) & wait"


def after_the_first(place: Any, name: str, hang: Callable[[], None]) -> None:
    """Let a function be called once; hang instead of the second call."""
    real, calls = getattr(place, name), []

    def called(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) > 1:
            hang()
        return real(*arguments, **options)

    setattr(place, name, called)


def instead(place: Any, name: str, hang: Callable[[], None]) -> None:
    setattr(place, name, lambda *_arguments, **_options: hang())


MOMENTS: dict[str, Callable[[Callable[[], None]], None]] = {
    "half of the processes are stopped": lambda hang: after_the_first(
        processes.Pauser, "_see_halted", hang
    ),
    "all are stopped": lambda hang: instead(pausing, "unquiet", hang),
    "files are about to be moved": lambda hang: instead(restore_act, "restore", hang),
    "files were moved": lambda hang: instead(restore_act, "keep_unrecorded", hang),
    "half of the processes go on": lambda hang: after_the_first(processes, "_go_on", hang),
}
NEXT = {
    "a checkpoint": ("checkpoint", "-m", "after"),
    "another rollback": ("rollback", "--base"),
    "doctor": ("doctor",),
}


@pytest.fixture
def task(sandbox: Sandbox) -> Iterator[Sandbox]:
    sandbox.siding("task", "start", "killed")
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >one")
    sandbox.siding("run", "--detach", "--", "sh", "-c", TICKING)
    wait_until((sandbox.workspace() / "ticks").exists)
    yield sandbox
    sandbox.siding("stop", "--all", status=None)


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


def kill_a_rollback(sandbox: Sandbox, moment: str, reached: Path) -> None:
    """Begin a rollback in another process, and kill that when it has come to the moment."""

    def hang() -> None:
        reached.touch()
        while True:
            time.sleep(10)

    child = os.fork()
    if child == 0:
        try:
            MOMENTS[moment](hang)
            project = require_project(open_app(env=sandbox.env, cwd=sandbox.repo))
            rollback(project, RollbackRequest(step=None))
        finally:
            os._exit(1)
    wait_until(reached.exists)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def command_of(sandbox: Sandbox) -> int:
    (record,) = sandbox.project.glob("tasks/*/runs/r*.json")
    return int(json.loads(record.read_bytes())["command"]["pid"])


def see_it_write(path: Path) -> None:
    before = path.stat().st_size if path.exists() else 0
    wait_until(lambda: path.exists() and path.stat().st_size != before)


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_next_command_lets_them_go_on_and_recovers(
    task: Sandbox, tmp_path: Path, moment: str
) -> None:
    for count, (name, words) in enumerate(NEXT.items()):
        kill_a_rollback(task, moment, tmp_path / f"reached-{count}")
        command = command_of(task)
        assert "half" in moment or procfs_details.is_stopped(command)
        assert list(task.project.glob("tasks/*/runs/paused"))
        done = task.siding(*words, status=None)
        if name == "doctor":
            assert b"are paused: who paused them was killed" in done.stdout + done.stderr
        else:
            assert done.returncode == 0, done.stderr
        assert not procfs_details.is_stopped(command)
        see_it_write(task.workspace() / "ticks")
        assert not list(task.project.glob("tasks/*/runs/paused"))
    began = "files" in moment or moment == "half of the processes go on"
    cut_off = [s for s in task.steps() if s["kind"] == "rollback" and s["status"] == "interrupted"]
    assert bool(cut_off) == began
    task.siding("verify")
    task.siding("doctor")


def test_without_a_next_command_their_host_lets_them_go_on(task: Sandbox, tmp_path: Path) -> None:
    """After ten seconds: an agent is not left standing until somebody types a command."""
    kill_a_rollback(task, "all are stopped", tmp_path / "reached")
    assert procfs_details.is_stopped(command_of(task))
    see_it_write(task.workspace() / "ticks")
    wait_until(lambda: not list(task.project.glob("tasks/*/runs/paused")))
    task.siding("verify")
