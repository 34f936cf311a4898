"""Whoever is killed while a run lives: nothing goes on unseen, and nothing is lost.

{host, keeper, both, agent, terminal} x {foreground, detached, sandboxed} x {idle, writing, in a
checkpoint, while freezing}. The agent leaves a daemon that forked twice, cleared its environment,
ignores SIGTERM and counts.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from bwrap import bwrap_problem
from sandbox import SIDING, Sandbox, alive
from terminal import Terminal

VICTIMS = ("host", "keeper", "both", "agent", "terminal")
MODES = ("foreground", "detached", "sandboxed")
MOMENTS = ("idle", "writing", "checkpoint", "freezing")
CASES = [
    case
    for case in product(VICTIMS, MODES, MOMENTS)
    if (case[0], case[1]) != ("terminal", "detached")  # it has none
]
AGENT = """
import os, sys, time
moment = sys.argv[1]
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.execve(sys.executable, [sys.executable, "-c", '''
import os, signal, time
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
fd = os.open("count", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
while True:
    os.write(fd, b"x")
    time.sleep(0.005)
'''], {})
os.wait()
while not os.path.exists("count"):
    time.sleep(0.005)
n = 0
open("work.txt", "w").write("the work\\n")
open("ready", "w").close()
while True:
    if moment == "writing":
        n += 1
        with open("new", "w") as file:
            file.write(f"version {n}\\n" * 100)
        os.rename("new", "written.txt")
    else:
        time.sleep(0.01)
"""
# What goes on in another terminal while the victim is killed.
BESIDE = {"checkpoint": ("checkpoint",), "freezing": ("rollback", "--base", "--files")}


def chosen() -> list[tuple[str, str, str]]:
    """Return the cases to try: all of them as a proof, else a few that differ in every part."""
    times = int(os.environ.get("SIDING_FAULTS_TIMES", "0"))
    if times:
        return CASES * times
    picked: list[tuple[str, str, str]] = []
    seen: set[str] = set()
    for case in random.Random(7).sample(CASES, len(CASES)):
        if not set(case) <= seen:
            picked.append(case)
            seen |= set(case)
    return picked


class Case:
    """A run with its daemon, and those who may be killed."""

    def __init__(self, task: Sandbox, mode: str, moment: str, *, at_terminal: bool) -> None:
        self.task = task
        self.workspace = task.workspace()
        self.terminal: Terminal | None = None
        self.process: subprocess.Popen[bytes] | None = None
        options = {"detached": ["--detach"], "sandboxed": ["--sandbox"]}.get(mode, [])
        line = [*SIDING, "run", *options, "--", sys.executable, "-c", AGENT, moment]
        if at_terminal:
            self.terminal = Terminal(line, cwd=task.repo, env=task.env)
        else:
            self.process = subprocess.Popen(
                line,
                cwd=task.repo,
                env=dict(task.env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        until((self.workspace / "ready").exists)
        self.counter = os.open(self.workspace / "count", os.O_RDONLY)  # a rollback moves the file

    def pids(self) -> dict[str, int]:
        (path,) = self.workspace_runs()
        record = json.loads(path.read_text())
        return {name: record[name]["pid"] for name in ("host", "keeper", "command")}

    def workspace_runs(self) -> list[Path]:
        home = Path(self.task.env["SIDING_HOME"])
        return list(home.glob("projects/*/tasks/*/runs/r*.json"))

    def kill(self, victim: str) -> None:
        pids = self.pids()
        if victim == "terminal":
            assert self.terminal is not None
            self.terminal.close_window()
            return
        if victim == "both":
            os.kill(pids["host"], signal.SIGSTOP)  # it would see that its keeper is gone
        for each in {"both": ("keeper", "host"), "agent": ("command",)}.get(victim, (victim,)):
            os.kill(pids[each], signal.SIGKILL)

    def count(self) -> int:
        return os.fstat(self.counter).st_size

    def counts(self) -> bool:
        before = self.count()
        time.sleep(0.2)
        return self.count() > before

    def clear(self) -> None:
        os.close(self.counter)
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        if self.terminal is not None:
            self.terminal.kill()


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def beside(task: Sandbox, moment: str) -> Iterator[None]:
    """Have another command work in the task again and again."""
    command = BESIDE.get(moment)
    if command is None:
        yield
        return
    line = " ".join([*SIDING, *command])
    other = subprocess.Popen(
        ["sh", "-c", f"while [ ! -e {task.directory}/enough ]; do {line}; done"],
        cwd=task.repo,
        env=dict(task.env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(0.5)
        yield
    finally:
        (task.directory / "enough").touch()
        other.wait()


def contents(workspace: Path) -> dict[str, bytes]:
    names = ("work.txt", "written.txt", "count")
    return {name: (workspace / name).read_bytes() for name in names if (workspace / name).exists()}


@pytest.mark.parametrize(("victim", "mode", "moment"), chosen())
def test_nothing_goes_on_unseen(sandbox: Sandbox, victim: str, mode: str, moment: str) -> None:
    if mode == "sandboxed" and bwrap_problem():
        pytest.skip(bwrap_problem())
    sandbox.siding("task", "start", "killed")
    case = Case(sandbox, mode, moment, at_terminal=victim == "terminal")
    try:
        with beside(sandbox, moment):
            time.sleep(random.random() / 5)
            case.kill(victim)
            time.sleep(random.random() / 5)
        sandbox.siding("checkpoint")
        if victim == "keeper" and mode != "sandboxed":
            assert len(case.workspace_runs()) == 1
            sandbox.siding("stop")
        until(lambda: case.workspace_runs() == [])
        run = next(step for step in sandbox.steps() if step["kind"] == "run")
        if victim == "both" and mode != "sandboxed":
            named = [each["pid"] for each in run["processes"]["survivors"]]
            assert case.counts()  # the promise that is not made: it is named
            assert len(named) == 1
            os.kill(named[0], signal.SIGKILL)
            until(lambda: not alive(named[0]))
        assert not case.counts()
        # Without its keeper a sandbox ends, and with it the command.
        ended_alone = victim == "agent" or (victim, mode) == ("keeper", "sandboxed")
        assert run["status"] == ("failed" if ended_alone else "interrupted")
    finally:
        case.clear()
    sandbox.siding("checkpoint")
    before = contents(case.workspace)
    assert moment == "freezing" or before["work.txt"] == b"the work\n"
    if before:
        sandbox.siding("rollback", "--base")
        assert contents(case.workspace) == {}
        sandbox.siding("undo")
    assert contents(case.workspace) == before
    sandbox.siding("verify")
