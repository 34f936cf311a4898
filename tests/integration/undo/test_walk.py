"""Back and forth at random against a model in memory: what is on disk is what the model says."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import counted
from sandbox import Sandbox
from scratch import scratch
from siding.applying.apply import Conflicting, Mode, WouldPublish
from siding.record.ledger.step import StepKind
from siding.record.moving.model import Overlapping, RefusedMove
from siding.record.restoring.refusal import Refusal

from .branches import HERS, Applied, Side, changed_paths, hers, merge
from .desk import Desk, Tree, remove

_FORBIDDEN = {b".", b"..", b".git", b".gitignore", b".gitattributes", b".gitmodules"}
_LETTERS = st.sampled_from([*b"aB \t\n\"\\'*?[:-~", 0x01, 0x7F, 0xC3, 0xA9, 0xFF])
NAMES = st.one_of(
    st.sampled_from([b"a", b"b", b"dir", b"hello.txt", b"src"]),
    st.lists(_LETTERS, min_size=1, max_size=5).map(bytes),
).filter(lambda name: name.lower() not in _FORBIDDEN and not name.lower().startswith(b".git"))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(b"/".join)
CONTENTS = st.one_of(
    st.sampled_from([b"", b"x\n", b"a\r\nb\r\n", b"\0\xff\r\n"]), st.binary(max_size=40)
)
KINDS = st.sampled_from(["file", "executable", "link"])
HER_PATHS = NAMES.map(lambda name: HERS + name)


class Walk(RuleBasedStateMachine):
    """The model: the tree now, the tree after each step, and two stacks of what was done; and the
    person's side (`branches.py`), where the task is applied."""

    @initialize()
    def begin(self) -> None:
        self.directory = scratch("siding-walk-")
        self.desk = Desk(Sandbox(Path(self.directory.name)))
        self.now: Tree = self.desk.tree()
        self.after: list[Tree] = [dict(self.now)]  # after[0] is the base
        # Where it leads, where it must start, HEAD there; None: the closing of the task.
        self.undoable: list[tuple[Tree, Tree, str] | Applied] = []
        self.redoable: list[tuple[Tree, Tree, str] | Applied | None] = []
        self.side = Side(self.desk.sandbox)
        self.committed = False  # by the agent, since the last step
        self.commits: list[Tree] = []  # the trees of its commits
        self.departure: Tree | None = dict(self.now)  # None: rollbacks leave it open
        self.departures: list[Tree] = [dict(self.now)]  # all there ever were

    def teardown(self) -> None:
        counted.add(1)
        if hasattr(self, "directory"):
            self.directory.cleanup()

    # What a person or an agent does.

    @rule(path=PATHS, content=CONTENTS, kind=KINDS)
    def write_by_hand(self, path: bytes, content: bytes, kind: str) -> None:
        self._write(path, content, kind)

    def _write(self, path: bytes, content: bytes, kind: str) -> None:
        if kind == "link":
            content = content.replace(b"\0", b"") or b"nowhere"
        full = os.path.join(os.fsencode(self.desk.root), path)
        self._make_room(path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if kind == "link":
            os.symlink(content, full)
        else:
            with open(full, "wb") as file:
                file.write(content)
            os.chmod(full, 0o755 if kind == "executable" else 0o644)
        self.now[path] = (kind, content)

    @precondition(lambda self: self.now)
    @rule(data=st.data())
    def delete_by_hand(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.now)))
        remove(os.path.join(os.fsencode(self.desk.root), path))
        del self.now[path]

    @precondition(lambda self: self.now)
    @rule(data=st.data(), content=CONTENTS)
    def run(self, data: st.DataObject, content: bytes) -> None:
        """A command that replaces one file and is recorded."""
        path = data.draw(st.sampled_from(sorted(self.now)))
        source = Path(self.directory.name, "source")
        source.write_bytes(content)
        self._settle()
        before = dict(self.now)
        self.desk.run("cp", "-T", "--remove-destination", "--", str(source), os.fsdecode(path))
        source.chmod(0o644)
        mode = os.lstat(os.path.join(os.fsencode(self.desk.root), path)).st_mode
        self.now[path] = ("executable" if mode & 0o100 else "file", content)
        self.after.append(dict(self.now))
        if before != self.now:
            self.undoable.append((before, dict(self.now), self._head()))
            self.redoable.clear()

    @rule()
    def commit_by_agent(self) -> None:
        self.desk.commit()
        self.committed = True
        self.commits.append(dict(self.now))

    # What the person does in her checkout of the main branch.

    @rule(path=HER_PATHS, content=CONTENTS, stage=st.booleans())
    def edit_of_hers(self, path: bytes, content: bytes, stage: bool) -> None:
        self.side.edit(path, content, stage=stage)

    @precondition(lambda self: self.side.disk)
    @rule(data=st.data(), content=st.none() | CONTENTS, stage=st.booleans())
    def edit_of_anything(self, data: st.DataObject, content: bytes | None, stage: bool) -> None:
        path = data.draw(st.sampled_from(sorted(self.side.disk)))
        self.side.edit(path, content, stage=stage)

    @rule()
    def commit_of_hers(self) -> None:
        self.side.commit()

    # Applying.

    @rule(path=PATHS, content=CONTENTS, kind=KINDS, mode=st.sampled_from(Mode))
    def write_and_apply(self, path: bytes, content: bytes, kind: str, mode: Mode) -> None:
        self._write(path, content, kind)
        self._apply(mode, close=False)

    @rule(mode=st.sampled_from(Mode), close=st.booleans())
    def apply(self, mode: Mode, close: bool) -> None:
        self._apply(mode, close=close)

    def _apply(self, mode: Mode, *, close: bool) -> None:
        self._settle()
        files_only = mode is Mode.PATCH
        ours, name = dict(self.side.tip), self.side.name
        possible = [merge(base, ours, self.now) for base in self._departures(files_only)]
        try:
            try:
                done = self.desk.apply(mode, close=close and not files_only)
            except WouldPublish:
                assert mode in (Mode.COMMIT, Mode.MERGE, Mode.REBASE)
                assert self.commits
                mode = Mode.SQUASH  # as the hint says
                done = self.desk.apply(mode, close=close)
        except Conflicting:
            assert None in possible or (mode is Mode.REBASE and self.commits), possible
        except Overlapping:
            moves = [self._move(each, files_only) for each in possible if each is not None]
            assert None in possible or not all(self.side.allows(move) for move in moves)
        else:
            new = self._what_became_of(done.plan.tree, possible)
            move = self._move(new, files_only)
            if done.step is not None:
                assert self.side.allows(move)
                self._applied(move, mode, name)
            assert changed_paths(ours, new) or done.step is None
            self._reopen(closed=done.closed is not None)
        self.check_disk()
        self.side.check()
        self._count()

    def _departures(self, files_only: bool) -> list[Tree]:
        """Return from where the task's change may be counted; one, where that is certain."""
        if self.departure is not None and (not files_only or len(self.departures) == 1):
            return [self.departure]
        return [*self.departures, *self.commits]

    def _what_became_of(self, tree: str, possible: list[Tree | None]) -> Tree:
        new = self.side.tree_of(tree)
        assert hers(new) == hers(self.side.tip)
        assert new in possible or None in possible, (new, possible)
        return new

    def _move(self, new: Tree, files_only: bool) -> Applied:
        name = self.side.name
        return Applied(dict(self.side.tip), new, name, name, files_only)

    def _applied(self, move: Applied, mode: Mode, before: str) -> None:
        git = self.desk.sandbox.git
        move = move._replace(new_name=git("rev-parse", "main"))
        assert (move.new_name == before) == (mode is Mode.PATCH)
        if mode is Mode.SQUASH:
            assert git("rev-parse", "main^@") == before
        if mode is Mode.MERGE:
            first, second = git("rev-parse", "main^@").split()
            assert first == before
            assert self.side.tree_of(second) == self.now
        assert git("merge-base", before, "main") == before
        self.side.follow(move)
        self.undoable.append(move)
        self.redoable.clear()
        self.after.append(dict(self.now))
        if mode is not Mode.PATCH:
            self.departure = dict(self.now)
        self.departures.append(dict(self.now))

    def _reopen(self, *, closed: bool) -> None:
        assert self.desk.root.exists() != closed
        if closed:
            self.desk.undo()
            self.redoable = [each for each in self.redoable if each is not None]
            self.redoable.append(None)

    # Going back and forth.

    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, len(self.after) - 1))
        target = dict(self.after[number])
        self._settle()
        done = self.desk.rollback(number or None)
        assert done.survey.git or done.survey.nothing_to_do == (target == self.now)
        assert not done.restored.missed
        self.undoable.append((dict(self.now), target, self._head()))
        self.redoable.clear()
        self.departure = None
        self._went_to(target)

    @rule(force=st.booleans())
    def undo(self, force: bool) -> None:
        self._settle()
        if not self.undoable:
            with pytest.raises(Refusal, match=r"^nothing to undo"):
                self.desk.undo()
            return
        top = self.undoable[-1]
        self.departure = None
        if isinstance(top, Applied):
            if self._goes(self.desk.undo, top.back, allowed=self.side.allows_back(top)):
                self.redoable.append(self.undoable.pop())
            return
        target, start, head = top
        if (start, head) != (self.now, self._head()) and not force:
            with pytest.raises(Refusal, match="would be taken back with it"):
                self.desk.undo()
            return
        self.desk.undo(force=force)
        self.undoable.pop()
        self.redoable.append((dict(self.now), target, self._head()))
        self._went_to(target)

    @rule()
    def redo(self) -> None:
        self._settle()
        if not self.redoable:
            with pytest.raises(Refusal, match=r"^nothing to redo|came after what was undone"):
                self.desk.redo()
            return
        top = self.redoable[-1]
        self.departure = None
        if isinstance(top, Applied):
            if self._goes(self.desk.redo, top, allowed=self.side.allows(top)):
                self.redoable.pop()
                self.undoable.append(top)
            return
        self.redoable.pop()
        self.desk.redo()
        if top is None:
            assert not self.desk.root.exists()
            self.desk.undo()
            self.redoable.append(None)
        else:
            self.undoable.append((dict(self.now), top[0], self._head()))
            self._went_to(top[0])

    def _goes(self, act: Callable[[], object], move: Applied, *, allowed: bool) -> bool:
        """Take an apply back, or do it again, if it may be done; else nothing happens at all."""
        moved_on = not move.files_only and move.old_name != self.side.name
        if moved_on or not allowed:
            with pytest.raises(Refusal if moved_on else (Overlapping, RefusedMove)):
                act()
        else:
            act()
            self.side.follow(move)
            self.after.append(dict(self.now))
        self.check_disk()
        self.side.check()
        self._count()
        return allowed and not moved_on

    @rule(by_undo=st.booleans(), collect=st.booleans())
    def close_and_open(self, by_undo: bool, collect: bool) -> None:
        self._settle()
        self.desk.close()
        assert not self.desk.root.exists()
        if collect:
            report = self.desk.gc()
            assert [each.failed for each in report.done] == [None]
            assert not self.desk.trash()
        if by_undo:
            self.desk.undo()
        else:
            self.desk.reopen()
        # One mark is kept: an older closing that was not done again is closed and open since.
        self.redoable = [each for each in self.redoable if each is not None]
        if by_undo:
            self.redoable.append(None)

    def _head(self) -> str:
        return self.desk.git("rev-parse", "HEAD")

    def check_disk(self) -> None:
        assert self.desk.tree() == self.now

    def _settle(self) -> None:
        """What is not recorded will be, as a step of its own, which ends a line of redoing."""
        counted.add(acts=1)
        if self.after[-1] != self.now or self.committed:
            self.committed = False
            self.desk.checkpoint()
            self.after.append(dict(self.now))
            self.redoable.clear()
        self._count()

    def _went_to(self, tree: Tree) -> None:
        self.now = dict(tree)
        self.after.append(dict(tree))
        self.check_disk()
        self._count()

    def _count(self) -> None:
        steps = self.desk.steps()
        assert len(steps) == len(self.after) - 1, [(s.id, s.kind, s.title) for s in steps]
        assert all(step.kind in set(StepKind) for step in steps)

    def _make_room(self, path: bytes) -> None:
        """Take away what keeps `path` from being a file: files above it, what is at it."""
        root = os.fsencode(self.desk.root)
        parts = path.split(b"/")
        for depth in range(1, len(parts)):
            above = b"/".join(parts[:depth])
            if above in self.now:
                os.unlink(os.path.join(root, above))
                del self.now[above]
        full = os.path.join(root, path)
        if os.path.lexists(full):
            remove(full)
        for known in [k for k in self.now if k == path or k.startswith(path + b"/")]:
            del self.now[known]


Walk.TestCase.settings = settings(
    max_examples=int(os.environ.get("SIDING_WALKS", "5")),
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestWalk = pytest.mark.timeout(600)(Walk.TestCase)
