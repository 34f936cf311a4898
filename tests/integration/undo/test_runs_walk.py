"""Back and forth at random while runs live: nothing recorded is lost, and the runs go on.

Each run is a small program that does what it is told over a pipe, and answers. So what is in the
workspace is known at every act, and with it what each new step has to have.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import counted
from sandbox import Sandbox, alive
from scratch import scratch
from siding.ledger.step import Step, StepKind
from siding.runs.run import Run
from siding.runs.store import Runs

from .desk import Desk

Blobs = dict[bytes, str]  # the id of each file's content, as git has it
NAMES = st.sampled_from(["hello.txt", "src/a.py", "b", "dir/c", "dir/d"])
PICKS = st.integers(0, 40)
MOST = 3  # runs that live at once
PROGRAM = """
exec 3<>"$1"
while read -r number verb name text <&3; do
    case $verb in
        write) mkdir -p "${name%/*}"; echo "$text" >"$name" ;;
        delete) rm -f "$name" ;;
        commit) git add -A; git commit -q --allow-empty -m "$text" ;;
        end) exit 0 ;;
    esac
    echo "$number" >>"$1.answers"
done
"""
BACK = (StepKind.ROLLBACK,)


class Told(NamedTuple):
    """A run that lives, and the pipe by which it is told what to do."""

    run: Run
    pipe: Path

    def tell(self, number: int, words: str) -> None:
        fd = os.open(self.pipe, os.O_WRONLY)
        try:
            os.write(fd, f"{number} {words}\n".encode())
        finally:
            os.close(fd)

    def has_answered(self, number: int) -> bool:
        answers = Path(f"{self.pipe}.answers")
        return answers.exists() and str(number) in answers.read_text().split()


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


class RunsWalk(RuleBasedStateMachine):
    """The model: the runs that live, the files after each step, and what was acknowledged."""

    @initialize()
    def begin(self) -> None:
        self.directory = scratch("siding-walk-")
        self.desk = Desk(Sandbox(Path(self.directory.name)))
        self.live: list[Told] = []
        self.begun: list[str] = []  # the ids of all runs that made or will make a step
        self.pids: set[int] = set()
        self.after: list[Blobs] = [self._files()]  # after[0] is the base
        self.orders = 0
        self._begin_run()

    def teardown(self) -> None:
        counted.add(1)
        if not hasattr(self, "directory"):
            return
        try:
            self._end_of_all()
        finally:
            self.desk.sandbox.siding("stop", "--all", "--now", status=None)
            self.directory.cleanup()

    # What runs do.

    @rule()
    def another_run(self) -> None:
        if len(self.live) < MOST:
            self._begin_run()

    def _begin_run(self) -> None:
        pipe = Path(self.directory.name, f"pipe-{len(self.begun)}")
        os.mkfifo(pipe)
        self._acts("run", "--detach", "--", "sh", "-c", PROGRAM, "sh", str(pipe))
        known = {each.run.id for each in self.live}
        (run,) = [each for each in self._runs() if each.id not in known]
        self.live.append(Told(run, pipe))
        self.begun.append(run.id)
        self.pids |= {mark.pid for mark in (run.host, run.command, run.keeper) if mark.pid}
        self._tell(self.live[-1], "look")

    @rule(pick=PICKS, name=NAMES, verb=st.sampled_from(["write", "write", "delete", "commit"]))
    def work(self, pick: int, name: str, verb: str) -> None:
        if self.live:
            self._tell(self.live[pick % len(self.live)], f"{verb} ./{name} text-{self.orders}")

    @rule(pick=PICKS, now=st.booleans())
    def stop(self, pick: int, now: bool) -> None:
        if self.live:
            told = self.live.pop(pick % len(self.live))
            self._acts("stop", told.run.id, *(["--now"] if now else []))

    @rule(pick=PICKS)
    def end(self, pick: int) -> None:
        """The program ends by itself."""
        if self.live:
            told = self.live.pop(pick % len(self.live))
            told.tell(0, "end")
            wait_until(lambda: told.run.id not in [run.id for run in self._runs()])
            wait_until(lambda: any(step.run == told.run.id for step in self._new()))
            self._look_at_new(self._files())

    @rule(pick=PICKS)
    def host_killed(self, pick: int) -> None:
        """Everything that it started ends with it; the next command records it."""
        if self.live:
            told = self.live.pop(pick % len(self.live))
            os.kill(told.run.host.pid, signal.SIGKILL)
            wait_until(lambda: not alive(told.run.command.pid))
            self._acts("checkpoint", "-m", "after the kill", "--wait")

    # What a person does beside them.

    @rule(name=NAMES, pick=PICKS)
    def command(self, name: str, pick: int) -> None:
        """A run that ends at once, beside those that live."""
        path = self.desk.root / name
        script = f"mkdir -p {Path(name).parent}; echo person-{pick} >{path}"
        self._acts("run", "--", "sh", "-c", script)

    @rule()
    def checkpoint(self) -> None:
        self._acts("checkpoint", "-m", "so far")

    @rule(pick=PICKS)
    def turn(self, pick: int) -> None:
        if self.live:
            told = self.live[pick % len(self.live)]
            self._acts("checkpoint", "--run", told.run.id)

    @rule(pick=PICKS)
    def rollback(self, pick: int) -> None:
        number = pick % len(self.after)
        target = ("--step", str(number)) if number else ("--base",)
        self._acts("rollback", *target, "--force", there=self.after[number])

    @rule(verb=st.sampled_from(["undo", "redo"]))
    def undo(self, verb: str) -> None:
        self._acts(verb, "--force", refusable=True)

    @rule()
    def there_and_back(self) -> None:
        before = self._files()
        if self._acts("undo", "--force", refusable=True):
            self._acts("redo", "--force", there=before)

    @rule(pick=PICKS)
    def retry(self, pick: int) -> None:
        if len(self.after) > 1:
            number = 1 + pick % (len(self.after) - 1)
            words = ("retry", "--force", str(number), "--", "sh", "-c", f"echo again-{pick} >b")
            self._acts(*words, refusable=True)

    @rule(name=NAMES, pick=PICKS)
    def sync(self, name: str, pick: int) -> None:
        """Somebody works on the base branch, and that comes in, if it can."""
        path = self.desk.sandbox.repo / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"theirs-{pick}\n")
        self.desk.sandbox.git("add", "-A")
        self.desk.sandbox.git("commit", "-q", "--allow-empty", "-m", "theirs")
        self._acts("sync", refusable=True)

    @rule(now=st.booleans())
    def apply(self, now: bool) -> None:
        options = ["--now"] if now and self.live else []
        self._acts("apply", "--no-close", "--mode", "squash", *options, refusable=True)

    # What must hold.

    def _acts(self, *words: str, there: Blobs | None = None, refusable: bool = False) -> bool:
        """Run a command, look at the steps it made, and have all runs answer."""
        counted.add(acts=1)
        before = self._files()
        verb, *rest = words
        task = [] if verb == "stop" and not rest else ["-t", self.desk.task.id]
        done = self.desk.sandbox.siding(verb, *task, *rest, status=None)
        worked = done.returncode == 0
        assert worked or refusable, (words, done.stdout, done.stderr)
        assert done.returncode in (0, 1), (words, done.stderr)
        event(f"{verb}: {'done' if worked else 'refused'}")
        now = self._files()
        if there is not None:
            assert now == there, words
        if not worked:
            assert now == before, (words, done.stderr)
        self._look_at_new(before)
        assert verb in ("run", "retry") or now == self._files()
        living = [run.id for run in self._runs()]
        assert {each.run.id for each in self.live} == set(living[: len(self.live)]), words
        assert len(living) == len(self.live) + ("--detach" in rest), words
        for each in self.live:
            self._tell(each, "look")
        return worked

    def _look_at_new(self, before: Blobs) -> None:
        """Each new step has the files as they were then, and a patch that is only its own."""
        now = self._files()
        moved = False
        for step in self._new():
            there = self._recorded(step)
            moved = moved or step.kind in BACK
            if not moved and step.turn_of == "" and step.kind == StepKind.CHECKPOINT:
                assert there == before, step.line
            if step.kind != StepKind.APPLY:
                own = {os.fsencode(name) for name in step.line["diff_stat"]["file_list"]}
                assert own == differing(self.after[-1], there), step.line
            self.after.append(there)
        if self.after[-1] != now:  # only what nobody has recorded yet
            assert self.after[-1] != before or before == now

    def _new(self) -> list[Step]:
        return self.desk.steps()[len(self.after) - 1 :]

    def _recorded(self, step: Step) -> Blobs:
        box = self.desk.sandbox
        store = self.desk.project.layout.root / "snapshots.git" / "objects"
        listed = subprocess.run(
            ["git", "ls-tree", "-rz", str(step.snapshot)],
            cwd=box.repo,
            env={**box.env, "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(store)},
            check=True,
            stdout=subprocess.PIPE,
        )
        entries = (line.partition(b"\t") for line in listed.stdout.split(b"\0") if line)
        return {path: mode.split()[2].decode() for mode, _, path in entries}

    def _files(self) -> Blobs:
        tree = self.desk.tree()
        return {
            path: sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
            for path, (_kind, data) in tree.items()
        }

    def _runs(self) -> list[Run]:
        return Runs(self.desk.project.task_layout(self.desk.task.id)).live()

    def _tell(self, told: Told, words: str) -> None:
        """Tell a run what to do, and wait for its answer: it goes on after each pause."""
        self.orders += 1
        number = self.orders
        told.tell(number, words)
        wait_until(lambda: told.has_answered(number))

    def _end_of_all(self) -> None:
        """Every run has one step, nothing is left of any, and every state is still there."""
        box = self.desk.sandbox
        if not self.live:
            self._begin_run()
        self._tell(self.live[0], "write ./b last")
        before = self._files()
        self._acts("rollback", "--base", "--force", there=self.after[0])
        self._acts("undo", "--force", there=before)
        self.live.clear()
        self._acts("stop", "--all")
        steps = self.desk.steps()
        for run in self.begun:
            own = [each for each in steps if each.kind == StepKind.RUN and each.run == run]
            assert len(own) == 1, (run, own)
        assert [self._recorded(step) for step in steps] == self.after[1:]
        box.siding("verify", self.desk.task.id)
        wait_until(lambda: not [pid for pid in self.pids if alive(pid)])
        left = self.desk.project.task_layout(self.desk.task.id).runs_dir
        assert {path.name for path in left.glob("*")} <= {"last"}
        for number in {len(self.after) // 2, len(self.after) - 1}:
            target = ("--step", str(number)) if number else ("--base",)
            self._acts("rollback", *target, "--force", there=self.after[number])


def differing(one: Blobs, other: Blobs) -> set[bytes]:
    return {path for path in {*one, *other} if one.get(path) != other.get(path)}


RunsWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("SIDING_WALKS", "2")),
    stateful_step_count=12,
    deadline=None,
    phases=[Phase.generate],  # what real processes did is not the same again: nothing to shrink
    suppress_health_check=list(HealthCheck),
)
TestRunsWalk = pytest.mark.timeout(3600)(RunsWalk.TestCase)
