"""Runs that survive their host: they go on when it is killed, are seen, paused, ended, recorded."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from sandbox import Sandbox, alive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a keeper needs Linux")

WAYS = [("--no-tty",), ("--tty",), pytest.param(("--no-tty", "--sandbox"), marks=needs_bwrap)]
TICKING = "while :; do date +%s.%N >>ticks; sleep .01; done"
ENDS = "while [ ! -e stop ]; do sleep .01; done; echo over >over; exit 3"


@pytest.fixture
def task(sandbox: Sandbox) -> Iterator[Sandbox]:
    sandbox.siding("task", "start", "survives")
    yield sandbox
    sandbox.siding("stop", "--all", status=None)
    sandbox.siding("verify")


def until(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def row(task: Sandbox) -> dict[str, Any]:
    (found,) = task.json("runs", "--format", "json")
    assert isinstance(found, dict)
    return found


def keeper_of(task: Sandbox) -> int:
    (path,) = task.project.glob("tasks/*/runs/r1.json")
    return int(json.loads(path.read_bytes())["keeper"]["pid"])


def without_host(
    task: Sandbox, script: str, *options: str, is_light: bool = False
) -> dict[str, Any]:
    """Start a run that survives, and kill its host, before or after its keeper is a program."""
    task.siding("run", "--detach", "--survive", *options, "--", "sh", "-c", script)
    found = row(task)
    if is_light:
        command = Path(f"/proc/{keeper_of(task)}/cmdline")
        until(lambda: b"-S\0-I\0-E" in command.read_bytes())
    os.kill(found["host"], signal.SIGKILL)
    until(lambda: not alive(found["host"]))
    return found


def grows(path: Path) -> bool:
    before = path.stat().st_size
    until(lambda: path.stat().st_size != before)
    return True


@pytest.mark.parametrize("is_light", [False, True])
@pytest.mark.parametrize("options", WAYS)
def test_it_goes_on_and_its_end_is_recorded(
    task: Sandbox, options: tuple[str, ...], *, is_light: bool
) -> None:
    without_host(task, ENDS, *options, is_light=is_light)
    assert "no host" in row(task)["last_line"]
    (task.workspace() / "beside").write_text("x\n")
    task.siding("checkpoint", "-m", "beside it")
    (task.workspace() / "stop").touch()
    until((task.workspace() / "over").exists)
    until(lambda: task.json("runs", "--format", "json") == [])
    task.siding("checkpoint", "-m", "after it")
    step = next(each for each in task.steps() if each["kind"] == "run")
    assert (step["status"], step["exit_code"], step["ending"]) == ("failed", 3, "exited")
    assert any("survived its host" in each for each in step["notes"])
    assert not list(task.project.glob("tasks/*/runs/r1.*"))


@pytest.mark.parametrize("options", WAYS)
def test_stop_ends_it(task: Sandbox, options: tuple[str, ...]) -> None:
    script = f"trap 'echo bye >bye; exit 0' TERM; (setsid sh -c 'trap \"\" TERM; {TICKING}' &); "
    found = without_host(task, script + "while :; do sleep .05; done", *options)
    ticks = task.workspace() / "ticks"
    until(ticks.exists)
    assert grows(ticks)
    task.siding("stop", "r1")
    assert not alive(found["pid"])
    assert task.json("runs", "--format", "json") == []
    if "--sandbox" not in options:  # there the kernel ends all with bwrap
        assert (task.workspace() / "bye").exists()
    size = ticks.stat().st_size
    time.sleep(0.1)
    assert ticks.stat().st_size == size


def test_it_may_print_as_much_as_it_likes(task: Sandbox) -> None:
    script = "head -c 9000000 /dev/zero; head -c 9000000 /dev/zero >&2; echo over >over"
    without_host(task, f"while [ ! -e stop ]; do sleep .01; done; {script}")
    (task.workspace() / "stop").touch()
    until((task.workspace() / "over").exists)


def test_a_rollback_pauses_it(task: Sandbox) -> None:
    without_host(task, TICKING)
    ticks = task.workspace() / "ticks"
    until(ticks.exists)
    done = task.siding("rollback", "--base")
    assert b"was paused and goes on" in done.stderr
    until(ticks.exists)
    assert grows(ticks)
    refused = task.siding("task", "close", status=1)
    assert b"r1" in refused.stderr


def test_with_its_keeper_it_counts_as_cut_off(task: Sandbox) -> None:
    found = without_host(task, "sleep 600")
    keeper = keeper_of(task)
    os.kill(keeper, signal.SIGKILL)
    until(lambda: not alive(keeper))
    task.siding("checkpoint", "-m", "after it")
    assert not alive(found["pid"])
    step = next(each for each in task.steps() if each["kind"] == "run")
    assert step["status"] == "interrupted"


def test_the_command_has_nothing_of_ours_open(task: Sandbox) -> None:
    found = without_host(task, "sleep 600")
    open_ = [os.readlink(each) for each in Path(f"/proc/{found['pid']}/fd").iterdir()]
    assert not [each for each in open_ if each.startswith(str(task.directory))]


def test_with_its_host_it_is_a_run_like_any_other(task: Sandbox) -> None:
    task.siding("run", "--detach", "--survive", "--", "sh", "-c", "echo hello; exit 4")
    until(task.steps)
    (step,) = task.steps()
    assert (step["exit_code"], step.get("notes", [])) == (4, [])
    assert b"hello" in task.siding("output", "r1").stdout


def test_in_the_foreground_nothing_survives(task: Sandbox) -> None:
    done = task.siding("run", "--survive", "--", "true", status=2)
    assert b"--detach" in done.stderr
