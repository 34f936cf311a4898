"""Back and forth at random with git at work: every part of the state is what the model says.

The model is a copy of all parts after each step, taken as git and the disk show them.
"""

import os
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import counted
from bwrap import bwrap_problem
from faults.apart import other_file_system
from faults.copies import copy_tree, remove_tree
from sandbox import Sandbox
from scratch import scratch
from siding.applying.apply import Mode
from siding.ground.errors import SidingError
from siding.phases.moves import PhaseRequest, move
from siding.record.ledger.step import StepKind
from siding.record.phases.states import PhaseMove
from siding.record.restoring.refusal import Refusal
from siding.record.restoring.rollback import RollbackRequest, rollback
from siding.running.checkpoint import checkpoint
from siding.syncing.sync import SyncRequest, sync
from siding.tasks.close import Fate

from .children import ended, in_a_child, killed_at
from .desk import Desk
from .parts import Parts, parts_of

NAMES = st.sampled_from(["hello.txt", "src/a.py", "b", "dir/c", "ä 1"])
TEXTS = st.sampled_from(["", "x\n", "one\ntwo\n", "a\r\nb\r\n"])
CALLS = st.integers(1, 150)
# Nothing is drawn by what the walk came to: where a kill strikes is not the same each time.
PICKS = st.integers(0, 40)
CONFLICT = (
    "echo ours >hello.txt; git add -A; git commit -qm ours; git switch -qc aside HEAD~;"
    " echo theirs >hello.txt; git commit -qam theirs; git switch -q -; "
)
SCRIPTS = {
    "commit": "git add -A; git commit -q --allow-empty -m 'a commit'",
    "amend": "git commit -q --amend --allow-empty -m amended",
    "add": "git add -A",
    "unstage": "git reset -q",
    "keep index": "git rm -q --cached hello.txt",
    "intend": "echo later >later; git add -N later",
    "assume": "git update-index --assume-unchanged src/a.py",
    "hard": "git reset -q --hard HEAD~",
    "soft": "git reset -q --soft HEAD~",
    "switch": "git switch -q -c agents/own",
    "switch back": "git switch -q $SIDING_BRANCH",
    "detach": "git switch -q --detach",
    "delete": "git switch -q --detach; git branch -qD $SIDING_BRANCH",
    "merge": CONFLICT + "git merge -q aside",
    "rebase": CONFLICT + "git rebase -q aside",
    "pick": CONFLICT + "git cherry-pick aside",
    "bisect": "git bisect start HEAD HEAD~",
    "resolve": "git add -A; git commit -q --no-edit",
    "abort": "git merge --abort || git rebase --abort || git cherry-pick --abort",
    "conclude": "echo all >hello.txt; git add -A; GIT_EDITOR=true git rebase --continue",
    "filter": "git add -A; git commit -qm f; export FILTER_BRANCH_SQUELCH_WARNING=1;"
    " git filter-branch -f --msg-filter 'sed s/^/filtered/' HEAD~..HEAD >/dev/null",
    "look": "git status --short; git log --oneline -3",
}
KINDS: Counter[str] = Counter()


class Done(NamedTuple):
    """An act that can be undone, or done again: where that leads, and the state it starts from.

    `kind` is "all", "files" (of `path` alone, if there is one) or "apply".
    """

    leads_to: Parts
    start: Parts
    kind: str = "all"
    path: bytes | None = None

    def goes(self, now: Parts) -> Parts:
        """Return the state that it leads to from here."""
        match self.kind:
            case "all":
                return self.leads_to
            case "files":
                return with_files(now, self.leads_to, self._paths(now))
            case _:
                return now

    def is_disturbed(self, now: Parts) -> bool:
        """Tell whether something that it would take along was changed since."""
        if self.kind == "files":
            return any(self.start.files.get(p) != now.files.get(p) for p in self._paths(now))
        return self.kind == "all" and self.start != now

    def _paths(self, now: Parts) -> set[bytes]:
        if self.path is not None:
            return {self.path}
        return {*self.leads_to.files, *self.start.files, *now.files}


def with_files(parts: Parts, other: Parts, paths: Iterable[bytes]) -> Parts:
    """Return the parts with these files as in `other`."""
    files = dict(parts.files)
    for path in paths:
        files.pop(path, None)
        if path in other.files:
            files[path] = other.files[path]
    for path in list(files):  # a directory that has got a file is not empty any more
        files.pop(os.path.dirname(path), None)
    return parts._replace(files=files)


class GitWalk(RuleBasedStateMachine):
    """The parts now, after each step, and before each act that can be undone or done again."""

    @initialize(apart=st.booleans())
    def begin(self, apart: bool) -> None:
        self.directory = scratch("siding-walk-")
        self.elsewhere = self._home_elsewhere() if apart else None
        self.desk = Desk(Sandbox(Path(self.directory.name)))
        self.now = parts_of(self.desk)
        self.after = [self.now]  # after[0] is the base
        self.runs = 0
        self.undoable: list[Done] = []
        self.redoable: list[Done] = []
        self.attempt: tuple[Parts, Parts] | None = None  # before and after an undo that was killed

    def teardown(self) -> None:
        counted.add(1)
        if hasattr(self, "directory"):
            self.directory.cleanup()
            if self.elsewhere is not None:
                self.elsewhere.cleanup()

    def _home_elsewhere(self) -> "TemporaryDirectory[str] | None":
        """Put the home on another file system than the repository, if there is one."""
        other = other_file_system(Path(self.directory.name))
        if other is None:
            return None
        KINDS["home on another file system"] += 1
        place = TemporaryDirectory(prefix="siding-walk-", dir=other)
        Path(self.directory.name, "siding").symlink_to(place.name)
        return place

    @rule()
    def restore_home(self) -> None:
        """A copy takes the place of the home, as from a backup: all inode numbers are others."""
        self._settle()
        before = self.now
        home = Path(self.directory.name, "siding").resolve()
        copy = home.with_name(f"{home.name}.copy")
        copy_tree(home, copy)
        remove_tree(home)
        copy.rename(home)
        self.desk = Desk.again(self.desk)
        KINDS["restored home"] += 1
        self._is(before)
        self._count()

    @rule(pick=PICKS)
    def act_in_a_closed_task(self, pick: int) -> None:
        """A rollback in a task that is closed, with its workspace kept, and an undo of it."""
        self._settle()
        self.desk.close(Fate.KEEP)
        number = pick % len(self.after)
        before = self.now
        self.desk.rollback(number or None)
        self.undoable.append(Done(before, self._went_to(self.after[number])))
        self._acted()
        there, top = self.now, self.undoable.pop()
        self.desk.undo()
        self._went_to(top.goes(there))
        self.redoable.append(Done(there, self.now))
        self.desk.reopen()
        KINDS["act in a closed task"] += 1
        self._is(self.now)
        self._count()

    @rule(name=NAMES, text=TEXTS, pick=st.integers(0, len(SCRIPTS) - 1))
    def run(self, name: str, text: str, pick: int) -> None:
        self._run(name, text, pick)

    @rule(name=NAMES, text=TEXTS, pick=st.integers(0, len(SCRIPTS) - 1))
    def run_more(self, name: str, text: str, pick: int) -> None:
        self._run(name, text, pick)

    @rule(name=NAMES, text=TEXTS, pick=st.integers(0, len(SCRIPTS) - 1))
    def run_in_a_sandbox(self, name: str, text: str, pick: int) -> None:
        if not bwrap_problem():
            self._run(name, text, pick, guarded=True)

    def _run(self, name: str, text: str, pick: int, *, guarded: bool = False) -> None:
        """An agent writes a file and uses git."""
        # Not `pick` alone: hypothesis likes small numbers, and each script shall have its turn.
        self.runs += 1
        script = sorted(SCRIPTS)[(pick + 7 * self.runs) % len(SCRIPTS)]
        event(f"run {script}")
        KINDS[f"{script}, in a sandbox" if guarded else script] += 1
        body = f"branch={self.desk.branch}; " + SCRIPTS[script].replace("$SIDING_BRANCH", "$branch")
        if script != "look":
            body = f"mkdir -p src dir; printf %s {quote(text)} >'{name}'; {body}"
        self._settle()
        body = f"exec 2>/dev/null; git branch -qD aside agents/own; {body}; true"
        self.desk.shell(body, guarded=guarded)
        before, self.now = self.now, parts_of(self.desk)
        self.after.append(self.now)
        if before != self.now:
            self.undoable.append(Done(before, self.now))
            self._acted()
        self._count()

    @rule(name=NAMES, text=TEXTS, script=st.sampled_from(["add", "commit", "detach", "look"]))
    def by_hand(self, name: str, text: str, script: str) -> None:
        """A person does something in the workspace that nobody records."""
        (self.desk.root / name).parent.mkdir(exist_ok=True)
        if script != "look":
            (self.desk.root / name).write_text(text)
        box = self.desk.sandbox
        subprocess.run(
            ["sh", "-c", SCRIPTS[script]],
            cwd=self.desk.root,
            env=box.env,
            check=False,
            capture_output=True,
        )

    @rule(step=st.booleans())
    def phase(self, step: bool) -> None:
        self._settle()
        before = self.now
        try:
            kind = PhaseMove.NEXT_STEP if step else PhaseMove.START
            move(self.desk.project, PhaseRequest(kind, "a move", "impl", self.desk.task.id))
        except SidingError as error:  # on another branch, or a merge is under way, or begun already
            event(f"no phase: {error.code}")
            assert parts_of(self.desk) == before
            return
        KINDS["phase"] += 1
        self.now = parts_of(self.desk)
        self.after.append(self.now)
        self.undoable.append(Done(before, self.now))
        self._acted()
        self._count()

    @rule(pick=PICKS)
    def rollback(self, pick: int) -> None:
        number = pick % len(self.after)
        self._settle()
        before = self.now
        KINDS["rollback"] += 1
        self.desk.rollback(number or None)
        self.undoable.append(Done(before, self._went_to(self.after[number])))
        self._acted()

    @rule(pick=PICKS, name=st.none() | NAMES)
    def rollback_of_files(self, pick: int, name: str | None) -> None:
        number = pick % len(self.after)
        there = self.after[number]
        self._settle()
        if name is not None and not {os.fsencode(name)} & {*there.files, *self.now.files}:
            return
        KINDS["rollback of files"] += 1
        before = self.now
        self.desk.rollback(number or None, *([name] if name else []), files_only=True)
        path = None if name is None else os.fsencode(name)
        wanted = Done(there, before, "files", path).goes(before)
        self.undoable.append(Done(before, self._went_to(wanted), "files", path))
        self._acted()

    @rule(mode=st.sampled_from(Mode))
    def apply(self, mode: Mode) -> None:
        self._settle()
        try:
            done = self.desk.apply(mode)
        except SidingError as error:
            event(f"no apply: {error.code}")
        else:
            if done.step is not None:
                KINDS["apply"] += 1
                self.after.append(self.now)
                self.undoable.append(Done(self.now, self.now, "apply"))
                self._acted()
        assert parts_of(self.desk) == self.now
        self._count()

    @rule(pick=PICKS, word=st.sampled_from(["undo", "rollback", "undo", "sync"]), call=CALLS)
    def killed(self, pick: int, word: str, call: int) -> None:
        """An act is killed at some call that changes something; the next command settles it."""
        number = pick % len(self.after)
        if word == "undo" and not self.undoable:
            return
        if word == "sync" and not self._base_moves("killed", "x\n"):
            return
        self._settle()
        before, known = self.now, len(self.desk.steps())
        acts: dict[str, Callable[[Desk], object]] = {
            "rollback": lambda desk: desk.rollback(number or None),
            "undo": lambda desk: desk.undo(force=True),
            "sync": lambda desk: sync(desk.project, SyncRequest(task=desk.task.id)),
        }
        was_killed = killed_at(call, lambda: acts[word](Desk.again(self.desk)))
        KINDS["killed" if was_killed else f"not killed: {word}"] += 1
        # Any command will do. It waits for a git that the dead one had started.
        checkpoint(self.desk.project, self.desk.task.id, "after the kill", wait=True)
        self.now = parts_of(self.desk)
        made = self.desk.steps()[known:]
        self.after += [self.now] * len(made)
        self._count()
        self._nothing_left()
        begun = [step for step in made if step.kind != StepKind.CHECKPOINT]
        event(f"killed {word}: {[step.status for step in begun]}" if was_killed else "not killed")
        if not begun:
            assert self.now.differs(before) == []
        elif word == "undo" and begun[0].status == "completed":
            start = self.attempt[0] if self.attempt else before
            self.redoable.append(Done(start, self.now, *self.undoable.pop()[2:]))
            self.attempt = None
        elif word != "undo":
            self.undoable.append(Done(before, self.now))
            self._acted()
        else:
            KINDS["attempt at an undo"] += 1  # the next one goes on with it
            self.attempt = (self.attempt[0] if self.attempt else before, self.now)

    @rule()
    def close_and_open(self) -> None:
        """The workspace goes into the trash and comes back."""
        self._settle()
        before = self.now
        self.desk.close()
        self.desk.reopen()
        KINDS["close and reopen"] += 1
        self._is(before)
        self._count()

    @rule(one=PICKS, other=PICKS)
    def two_at_once(self, one: int, other: int) -> None:
        """Two processes go back at the same moment; one of them is the second."""
        numbers = [pick % len(self.after) for pick in (one, other)]
        self._settle()
        before = self.now
        both = [in_a_child(partial(self._go_back, number)) for number in numbers]
        assert [ended(child) for child in both] == [0, 0]
        KINDS["two at once"] += 1
        first, second = self.desk.steps()[-2:]
        targets = [int(step.line["target_step"] or 0) for step in (first, second)]
        assert sorted(targets) == sorted(numbers)
        between = self.after[targets[0]]
        self.after.append(between)
        self.undoable.append(Done(before, between))
        after = self._went_to(self.after[targets[1]])
        self.undoable.append(Done(between, after))
        self._acted()

    def _go_back(self, number: int) -> None:
        desk = Desk.again(self.desk)
        step = str(number) if number else None
        rollback(desk.project, RollbackRequest(step, desk.task.id, wait=True))

    @rule(name=NAMES, text=TEXTS, rebase=st.booleans())
    def sync(self, name: str, text: str, rebase: bool) -> None:
        """Somebody works on the base branch, and that comes in."""
        self._settle()
        if not self._base_moves(name, text):
            return
        before = self.now
        try:
            done = sync(self.desk.project, SyncRequest(task=self.desk.task.id, rebase=rebase))
        except SidingError as error:
            event(f"no sync: {error.code}")
            assert parts_of(self.desk) == before
            return
        assert done.restored is not None
        KINDS["sync, in conflict" if done.plan.conflicts else f"sync by {done.plan.head.how}"] += 1
        self.now = parts_of(self.desk)
        self.after.append(self.now)
        self.undoable.append(Done(before, self.now))
        self._acted()
        self._count()

    @rule(force=st.booleans())
    def undo(self, force: bool) -> None:
        self._settle()
        self._undo(force=force)

    @rule()
    def redo(self) -> None:
        self._settle()
        self._redo()

    @rule(pick=PICKS)
    def there_and_back(self, pick: int) -> None:
        """Undo some acts and do them again: everything is as it was."""
        if not self.undoable:
            return
        self._settle()
        count = 1 + pick % len(self.undoable)
        before = self.attempt[0] if self.attempt else parts_of(self.desk)
        done = sum(self._undo(force=True) for _ in range(count))
        for _ in range(done):
            assert self._redo()
        KINDS["there and back"] += 1
        self._is(before)

    @rule()
    def to_the_beginning(self) -> None:
        """Undo everything: that is the base, unless files alone went back while git went on."""
        if len(self.undoable) < 3 or any(each.kind == "files" for each in self.undoable):
            return
        self._settle()
        first = self.undoable[0].leads_to
        while self.undoable:
            if not self._undo(force=True):
                return
        KINDS["to the beginning"] += 1
        self._is(first)

    def _acted(self) -> None:
        self.redoable.clear()
        self.attempt = None

    def _base_moves(self, name: str, text: str) -> bool:
        """Make a commit on the base branch, unless an apply could not be taken back any more."""
        if any(each.kind == "apply" for each in [*self.undoable, *self.redoable]):
            return False
        repo = self.desk.sandbox.repo
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
        self.desk.sandbox.git("add", "-A")
        self.desk.sandbox.git("commit", "-q", "--allow-empty", "-m", "theirs")
        return True

    def _is(self, wanted: Parts) -> None:
        now = parts_of(self.desk)
        if not wanted.tip:  # a branch that was gone then is not removed again
            now = now._replace(tip="")
        assert now.differs(wanted) == []

    def _undo(self, *, force: bool) -> bool:
        if not self.undoable:
            with pytest.raises(Refusal, match=r"^nothing to undo"):
                self.desk.undo()
            return False
        top = self.undoable[-1]
        before, start = self.attempt or (self.now, top.start)
        if top._replace(start=start).is_disturbed(self.now) and not force:
            with pytest.raises(Refusal, match="would be taken back with it"):
                self.desk.undo()
            return False
        goes = top.goes(self.now)
        self.desk.undo(force=force)
        KINDS["undo"] += 1
        self.undoable.pop()
        self.attempt = None
        self._went_to(goes)
        self.redoable.append(Done(before, self.now, top.kind, top.path))
        return True

    def _redo(self) -> bool:
        if not self.redoable:
            with pytest.raises(Refusal, match=r"^nothing to redo|came after what was undone"):
                self.desk.redo()
            return False
        # What an undo did that was killed, and not gone on with, goes with it: that asks first.
        self.desk.redo(force=self.attempt is not None)
        KINDS["redo"] += 1
        self.attempt = None
        before, top = self.now, self.redoable.pop()
        self._went_to(top.goes(before))
        self.undoable.append(Done(before, self.now, top.kind, top.path))
        return True

    def _settle(self) -> None:
        """What is not recorded will be, as a step of its own, which ends a line of redoing."""
        counted.add(acts=1)
        now = parts_of(self.desk)
        if now != self.now:
            self.now = now
            self.desk.checkpoint()
            self.after.append(now)
            self._acted()
        self._count()

    def _went_to(self, target: Parts) -> Parts:
        """The state is `target`, but for branches, which are never removed nor taken by force."""
        now = parts_of(self.desk)
        wanted = target
        if not target.tip:  # a branch that was gone then stays
            wanted = wanted._replace(tip=self.now.tip)
        if target.head not in (None, self.desk.branch) and now.head is None:
            there = self.desk.git(
                "for-each-ref", "--format=%(objectname)", f"refs/heads/{target.head}"
            )
            assert there != target.commit
            wanted = wanted._replace(head=None)
        assert now.differs(wanted) == []
        self.now = now
        self.after.append(now)
        self._count()
        self._nothing_left()
        return now

    def _nothing_left(self) -> None:
        left = {path.name for path in self.desk.git_dir.iterdir()}
        assert {name for name in left if "siding" in name or name.endswith(".lock")} == set()

    def _count(self) -> None:
        steps = self.desk.steps()
        assert len(steps) == len(self.after) - 1, [(s.id, s.kind, s.title) for s in steps]
        assert all(step.kind in set(StepKind) for step in steps)


GitWalk.TestCase.settings = settings(
    max_examples=int(os.environ.get("SIDING_WALKS", "4")),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestGitWalk = pytest.mark.timeout(3600)(GitWalk.TestCase)


def test_report() -> None:
    """Say how often each kind of act was walked; run after the walk, with `-s`."""
    print(dict(sorted(KINDS.items())))
