"""Back and forth at random while runs live: nothing recorded is lost, and the runs go on.

Each run is a small program that does what it is told over a pipe, and answers. So what is in the
workspace is known at every act, and with it what each new step has to have. Some of the runs are
in a sandbox and commit in a git directory of their own, which goes back and forth with the rest.
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
from bwrap import bwrap_problem
from sandbox import Sandbox, alive
from scratch import scratch
from siding.record.ledger.step import Step, StepKind
from siding.record.runs.run import Run
from siding.record.runs.store import Runs

from .desk import Desk

Blobs = dict[bytes, str]  # the id of each file's content, as git has it
NAMES = st.sampled_from(["hello.txt", "src/a.py", "b", "dir/c", "dir/d"])
PICKS = st.integers(0, 40)
GUARDED = st.sampled_from([True, False])  # hypothesis draws the first more often
MOST = 3  # runs that live at once
PROGRAM = """
exec 3<>"$1/orders"
while read -r number verb name text <&3; do
    case $verb in
        write) mkdir -p "${name%/*}"; echo "$text" >"$name" ;;
        delete) rm -f "$name" ;;
        commit) git add -A; git commit -q --allow-empty -m "$text" ;;
        git) sh -c "$2" >"$1/git" ;;
        end) exit 0 ;;
    esac
    echo "$number" >>"$1/answers"
done
"""
# HEAD, the commit and branch that it is on, and what is staged.
STATE_OF_GIT = "git log -1 --format=%H; git symbolic-ref -q HEAD; git ls-files --stage"
BACK = (StepKind.ROLLBACK,)
STAYS = (StepKind.CHECKPOINT, StepKind.RUN, StepKind.APPLY)  # HEAD and index stay where they are


class Told(NamedTuple):
    """A run that lives, and the directory with the pipe by which it is told what to do."""

    run: Run
    place: Path
    guarded: bool  # it is in a sandbox, with a git directory of its own

    def tell(self, number: int, words: str) -> None:
        fd = os.open(self.place / "orders", os.O_WRONLY)
        try:
            os.write(fd, f"{number} {words}\n".encode())
        finally:
            os.close(fd)

    def has_answered(self, number: int) -> bool:
        answers = self.place / "answers"
        return answers.exists() and str(number) in answers.read_text().split()


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


class RunsWalk(RuleBasedStateMachine):
    """The model: the runs that live, the files after each step, and what was acknowledged."""

    @initialize(guarded=GUARDED)
    def begin(self, guarded: bool) -> None:
        self.directory = scratch("siding-walk-")
        self.desk = Desk(Sandbox(Path(self.directory.name)))
        self.live: list[Told] = []
        self.begun: list[str] = []  # the ids of all runs that made or will make a step
        self.pids: set[int] = set()
        self.after: list[Blobs] = [self._files()]  # after[0] is the base
        self.git_known = ""  # what git said, if nothing was done to HEAD and index since
        self.git_after = [self._git()]  # the same as `after` for HEAD, branch and index
        self.orders = 0
        self._begin_run(guarded=guarded)

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

    @rule(guarded=GUARDED)
    def another_run(self, guarded: bool) -> None:
        if len(self.live) < MOST:
            self._begin_run(guarded=guarded)

    def _begin_run(self, *, guarded: bool) -> None:
        guarded = guarded and not bwrap_problem()
        event(f"a run {'in a sandbox' if guarded else 'without a sandbox'}")
        place = Path(self.directory.name, f"run-{len(self.begun)}")
        place.mkdir()
        os.mkfifo(place / "orders")
        options = ["--sandbox", "--write", str(place)] if guarded else []
        program = ["sh", "-c", PROGRAM, "sh", str(place), STATE_OF_GIT]
        self._acts("run", "--detach", *options, "--", *program)
        known = {each.run.id for each in self.live}
        (run,) = [each for each in self._runs() if each.id not in known]
        self.live.append(Told(run, place, guarded))
        self.begun.append(run.id)
        self.pids |= {mark.pid for mark in (run.host, run.command, run.keeper) if mark.pid}
        self._tell(self.live[-1], "look")
        if guarded:
            self._commit(self.live[-1])

    @rule(pick=PICKS, name=NAMES, verb=st.sampled_from(["write", "write", "delete", "commit"]))
    def work(self, pick: int, name: str, verb: str) -> None:
        if self.live:
            told = self.live[pick % len(self.live)]
            if verb == "commit":
                self._commit(told)
            else:
                self._tell(told, f"{verb} ./{name} text-{self.orders}")

    @rule(pick=PICKS, name=NAMES)
    def write_and_commit(self, pick: int, name: str) -> None:
        if self.live:
            told = self.live[pick % len(self.live)]
            self._tell(told, f"write ./{name} text-{self.orders}")
            self._commit(told)

    def _commit(self, told: Told) -> None:
        """Have the run commit, or one in a sandbox: what others commit is not seen in there."""
        told = self._guarded() or told
        event(f"a commit {'in a sandbox' if told.guarded else 'without a sandbox'}")
        self._tell(told, f"commit . text-{self.orders}")
        self.git_known = ""

    @rule(pick=PICKS, now=st.booleans())
    def stop(self, pick: int, now: bool) -> None:
        if self.live:
            git = self._git()
            told = self.live.pop(pick % len(self.live))
            self._acts("stop", told.run.id, *(["--now"] if now else []), git=git)

    @rule(pick=PICKS)
    def end(self, pick: int) -> None:
        """The program ends by itself."""
        if self.live:
            git = self._git()
            told = self.live.pop(pick % len(self.live))
            told.tell(0, "end")
            wait_until(lambda: told.run.id not in [run.id for run in self._runs()])
            wait_until(lambda: any(step.run == told.run.id for step in self._new()))
            self._look_at_new(self._files(), git)

    @rule(pick=PICKS)
    def host_killed(self, pick: int) -> None:
        """Everything that it started ends with it; the next command records it."""
        if self.live:
            git = self._git()
            told = self.live.pop(pick % len(self.live))
            os.kill(told.run.host.pid, signal.SIGKILL)
            wait_until(lambda: not alive(told.run.command.pid))
            self._acts("checkpoint", "-m", "after the kill", "--wait", git=git)

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
        self._goes_back(*target, number=number)

    def _goes_back(self, *target: str, number: int) -> None:
        self._acts("rollback", *target, "--force", there=self.after[number])
        assert self._git() == self.git_after[number], target

    @rule(verb=st.sampled_from(["undo", "redo"]))
    def undo(self, verb: str) -> None:
        self._acts(verb, "--force", refusable=True)

    @rule()
    def there_and_back(self) -> None:
        before, git = self._files(), self._git()
        if self._acts("undo", "--force", refusable=True):
            self._acts("redo", "--force", there=before)
            assert self._git() == git

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

    def _acts(
        self, *words: str, there: Blobs | None = None, git: str = "", refusable: bool = False
    ) -> bool:
        """Run a command, look at the steps it made, and have all runs answer.

        `git` is what git said before, if the run that knows it has ended since.
        """
        counted.add(acts=1)
        before, git = self._files(), git or self._git()
        verb, *rest = words
        task = [] if verb == "stop" and not rest else ["-t", self.desk.task.id]
        done = self.desk.sandbox.siding(verb, *task, *rest, status=None)
        self.git_known = ""
        worked = done.returncode == 0
        assert worked or refusable, (words, done.stdout, done.stderr)
        assert done.returncode in (0, 1), (words, done.stderr)
        event(f"{verb}: {'done' if worked else 'refused'}")
        now = self._files()
        if there is not None:
            assert now == there, words
        if not worked:
            assert now == before, (words, done.stderr)
            assert self._git() == git, (words, done.stderr)
        self._look_at_new(before, git)
        assert verb in ("run", "retry") or now == self._files()
        living = [run.id for run in self._runs()]
        assert {each.run.id for each in self.live} == set(living[: len(self.live)]), words
        assert len(living) == len(self.live) + ("--detach" in rest), words
        records = worked and (verb != "apply" or "--now" in rest)
        for each in self.live:
            self._tell(each, "look")
            if records and each.guarded:
                assert self._git_inside(each) == self._git_outside(), words
        return worked

    def _look_at_new(self, before: Blobs, git: str) -> None:
        """Each new step has the files as they were then, and a patch that is only its own."""
        now = self._files()
        moved = git_moved = False
        for step in self._new():
            there = self._recorded(step)
            moved = moved or step.kind in BACK
            git_moved = git_moved or step.kind not in STAYS
            if step.kind == StepKind.APPLY:  # beside runs, of what was recorded last
                self.git_after.append(self.git_after[-1])
            else:
                self.git_after.append(self._git() if git_moved else git)
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

    def _guarded(self) -> Told | None:
        return next((each for each in self.live if each.guarded), None)

    def _git(self) -> str:
        """Return what git says in the sandbox, if there is one, else in the workspace."""
        told = self._guarded()
        if not self.git_known:
            self.git_known = self._git_outside() if told is None else self._git_inside(told)
        return self.git_known

    def _git_inside(self, told: Told) -> str:
        self._tell(told, "git")
        return (told.place / "git").read_text()

    def _git_outside(self) -> str:
        where, env = self.desk.root, self.desk.sandbox.env
        words = ["sh", "-c", STATE_OF_GIT]
        return subprocess.run(
            words, cwd=where, env=env, check=True, capture_output=True, text=True
        ).stdout

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
            self._begin_run(guarded=False)
        self._tell(self.live[0], "write ./b last")
        before, git = self._files(), self._git()
        self._goes_back("--base", number=0)
        self._acts("undo", "--force", there=before)
        assert self._git() == git
        self.live.clear()
        self._acts("stop", "--all", git=git)
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
            self._goes_back(*target, number=number)


def differing(one: Blobs, other: Blobs) -> set[bytes]:
    return {path for path in {*one, *other} if one.get(path) != other.get(path)}


RunsWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("SIDING_WALKS", "2")),
    stateful_step_count=12 if "SIDING_WALKS" in os.environ else 10,  # the suite's sample is short
    deadline=None,
    phases=[Phase.generate],  # what real processes did is not the same again: nothing to shrink
    suppress_health_check=list(HealthCheck),
)
TestRunsWalk = pytest.mark.timeout(3600)(RunsWalk.TestCase)
