"""Back and forth at random against a model in memory: what is on disk is what the model says."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from sandbox import Sandbox
from siding.app.restoring import NeedsConsent
from siding.app.undo import NothingToRedo, NothingToUndo
from siding.ledger.step import StepKind

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


class Walk(RuleBasedStateMachine):
    """The model: the tree now, the tree after each step, and two stacks of trees."""

    @initialize()
    def begin(self) -> None:
        self.directory = tempfile.TemporaryDirectory(prefix="siding-walk-")
        self.desk = Desk(Sandbox(Path(self.directory.name)))
        self.now: Tree = self.desk.tree()
        self.after: list[Tree] = [dict(self.now)]  # after[0] is the base
        self.undoable: list[tuple[Tree, Tree]] = []  # (where it leads, where it must start)
        self.redoable: list[tuple[Tree, Tree] | None] = []  # None: the closing of the task

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            self.directory.cleanup()

    # What a person or an agent does.

    @rule(path=PATHS, content=CONTENTS, kind=KINDS)
    def write_by_hand(self, path: bytes, content: bytes, kind: str) -> None:
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
        self.desk.run("cp", "-T", "--remove-destination", "--", str(source), os.fsdecode(path))
        source.chmod(0o644)
        mode = os.lstat(os.path.join(os.fsencode(self.desk.root), path)).st_mode
        self.now[path] = ("executable" if mode & 0o100 else "file", content)
        self.after.append(dict(self.now))
        self.redoable.clear()

    # Going back and forth.

    @rule(data=st.data())
    def rollback(self, data: st.DataObject) -> None:
        number = data.draw(st.integers(0, len(self.after) - 1))
        target = dict(self.after[number])
        self._settle()
        done = self.desk.rollback(number or None)
        if target == self.now:
            assert done.restored is None
            return
        assert done.restored is not None
        assert not done.restored.missed
        self.undoable.append((dict(self.now), target))
        self.redoable.clear()
        self._went_to(target)

    @rule(force=st.booleans())
    def undo(self, force: bool) -> None:
        self._settle()
        if not self.undoable:
            with pytest.raises(NothingToUndo):
                self.desk.undo()
            return
        target, start = self.undoable[-1]
        if start != self.now and not force:
            with pytest.raises(NeedsConsent):
                self.desk.undo()
            return
        self.desk.undo(force=force)
        self.undoable.pop()
        self.redoable.append((dict(self.now), target))
        self._went_to(target)

    @rule()
    def redo(self) -> None:
        self._settle()
        if not self.redoable:
            with pytest.raises(NothingToRedo):
                self.desk.redo()
            return
        top = self.redoable.pop()
        self.desk.redo()
        if top is None:
            assert not self.desk.root.exists()
            self.desk.undo()
            self.redoable.append(None)
        else:
            self.undoable.append((dict(self.now), top[0]))
            self._went_to(top[0])

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

    def check_disk(self) -> None:
        assert self.desk.tree() == self.now

    def _settle(self) -> None:
        """What is not recorded will be, as a step of its own, which ends a line of redoing."""
        if self.after[-1] != self.now:
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
    max_examples=8,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestWalk = pytest.mark.timeout(600)(Walk.TestCase)
