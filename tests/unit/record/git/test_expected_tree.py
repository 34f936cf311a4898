"""What a restoration leads the next capture to expect: taken only where git has just seen it."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from siding.ground.git.command import Git, Place
from siding.ground.git.status import EntryKind, StatusEntry
from siding.ground.ids import Sha
from siding.record.files.index_entries import expect
from siding.record.snapshots.capture import Capture
from siding.record.snapshots.expected_tree import ExpectedTree
from siding.record.snapshots.patches import Change, diff_trees

from .world import TASK, World, write

OLD, TREE, SHA = Sha("a" * 40), Sha("b" * 40), Sha("1" * 40)
EDIT = Change("M", b"f", "100644", "100755", Sha("0" * 40), SHA)
SEEN = StatusEntry(EntryKind.TRACKED, b"f", "M", ".", b"100755 " + SHA.encode())


@pytest.mark.parametrize(
    ("seen", "is_found"),
    [
        ([SEEN], True),
        (
            [SEEN, StatusEntry(EntryKind.IGNORED, b"i"), StatusEntry(EntryKind.UNTRACKED, b"u")],
            True,
        ),
        ([], False),
        ([SEEN._replace(in_index=b"100644 " + SHA.encode())], False),
        ([SEEN._replace(in_index=b"100755 " + OLD.encode())], False),
        ([SEEN._replace(staged="A")], False),
        ([SEEN._replace(path=b"g")], False),
        ([SEEN, SEEN._replace(path=b"g")], False),
        ([StatusEntry(EntryKind.CONFLICTED, b"f", "U", "U")], False),
    ],
)
def test_it_is_found_if_git_sees_all_of_it_and_nothing_else(
    seen: list[StatusEntry], is_found: bool
) -> None:
    expected = ExpectedTree(OLD, TREE, [EDIT])
    assert expected.is_found(OLD, seen) is is_found
    assert not expected.is_found(TREE, seen)


class GoneBack(NamedTuple):
    """A worktree brought back to its first snapshot, and what is to be expected of it."""

    world: World
    first: Capture
    second: Capture
    expected: ExpectedTree
    ran: list[str]  # what git is asked to do since

    def take(self) -> Capture:
        self.ran.clear()
        return self.world.capture(expected=self.expected)


@pytest.fixture
def back(task: World, monkeypatch: pytest.MonkeyPatch) -> GoneBack:
    first = task.capture()
    for name in ("a.txt", "src/b.txt"):
        write(task.worktree / name, "changed\n")
    second = task.capture()
    changes = diff_trees(task.store, second.tree, first.tree)
    expect(task.store, TASK, changes, keep_fds=())
    write(task.worktree / "a.txt", "one\n")
    write(task.worktree / "src/b.txt", "two\n")
    ran: list[str] = []
    argv = Git.argv

    def noted(self: Git, place: Place, arguments: Sequence[str]) -> list[str]:
        ran.append(arguments[0])
        return argv(self, place, arguments)

    monkeypatch.setattr(Git, "argv", noted)
    return GoneBack(task, first, second, ExpectedTree(second.tree, first.tree, changes), ran)


def test_what_was_expected_is_taken_for_the_tree_without_asking_for_it(back: GoneBack) -> None:
    found = back.take()
    assert back.ran == ["status"]
    assert (found.tree, found.parent) == (back.first.tree, back.second.snapshot)
    assert found.changes == tuple(back.expected.changes)
    assert back.world.stored(found.snapshot) == back.world.stored(back.first.snapshot)
    assert back.world.capture().snapshot == found.snapshot  # nothing is left to be recorded


def test_the_same_is_found_without_an_expectation(back: GoneBack) -> None:
    found = back.world.capture()
    assert {"status", "write-tree", "diff-tree"} <= set(back.ran)
    assert (found.tree, found.changes) == (back.first.tree, tuple(back.expected.changes))


@pytest.mark.parametrize("name", ["a.txt", "new", "src/deep/c.txt"])
def test_what_somebody_wrote_meanwhile_is_in_the_snapshot(back: GoneBack, name: str) -> None:
    write(back.world.worktree / name, "of somebody else\n")
    found = back.take()
    assert "write-tree" in back.ran
    assert found.tree not in (back.first.tree, back.second.tree)
    assert back.world.stored(found.snapshot)[name.encode()] == ("100644", b"of somebody else\n")


def test_an_index_that_names_something_else_is_not_taken_for_it(back: GoneBack) -> None:
    expected = back.expected._replace(changes=back.expected.changes[:1])
    found = back._replace(expected=expected).take()
    assert "write-tree" in back.ran
    assert found.tree == back.first.tree


def test_an_index_that_is_made_again_is_not_taken_for_it(back: GoneBack) -> None:
    store = back.world.store
    (store.task(TASK).path / "index").write_bytes(b"torn")
    found = back.take()
    assert "write-tree" in back.ran
    assert back.world.stored(found.snapshot) == back.world.stored(back.first.snapshot)
