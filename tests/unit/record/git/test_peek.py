"""A look at a workspace that records nothing: where it is made, what it tells, and how it fails."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from siding.ground.git.errors import CommandFailed, SnapshotFailed, WorkspaceMissing
from siding.ground.ids import Sha
from siding.record.snapshots import peek as peeks
from siding.record.snapshots.changes import CaptureLimits
from siding.record.snapshots.modes import Modes
from siding.record.snapshots.patches import diff_trees
from siding.record.snapshots.scratch import NoRoom
from siding.record.snapshots.status_look import CaptureRequest
from siding.record.snapshots.tree_look import TreeLook

from .world import MEGABYTE, TASK, World, bytes_below, write

FULL = OSError(errno.ENOSPC, "No space left on device")
BROKEN = CommandFailed("looking", ["git"], 128, b"fatal: broken\n")


def request(task: World) -> CaptureRequest:
    return CaptureRequest(
        task_id=TASK,
        root=task.where,
        git_dir=task.git_dir,
        branch=task.branch,
        step="",
        kind="look",
        at=0,
        limits=CaptureLimits(MEGABYTE),
    )


def seen(task: World) -> set[bytes]:
    """Look; return the paths that differ from the last snapshot."""
    tip = task.store.tip(TASK)
    assert tip is not None
    with peeks.peek(task.store, request(task), unique="u") as found:
        return {change.path for change in diff_trees(found.store, tip, found.tree)}


def test_a_look_tells_all_and_leaves_nothing(task: World) -> None:
    task.capture()
    write(task.worktree / "new", "x")
    (task.worktree / "a.txt").chmod(0o600)
    (task.worktree / "void").mkdir()
    before = bytes_below(task.store.root)
    with peeks.peek(task.store, request(task), unique="u") as found:
        made = task.store.root / "peeks/u"
        assert made.is_dir()
        assert isinstance(found.modes, Modes)
        assert found.modes.files == {b"a.txt": 0o600}
        assert found.coverage.empty_dirs == (b"void",)
        assert task.store.present([found.tree]) == set()  # only in its own directory
        assert found.store.read_blob(blob(task, b"x"), 1) == b"x"
    assert not made.exists()
    assert bytes_below(task.store.root) == before


def blob(task: World, content: bytes) -> Sha:
    return Sha(task.user("hash-object", "--stdin", stdin=content).decode().strip())


def test_an_index_that_is_torn_or_missing_is_made_anew_in_the_look_alone(task: World) -> None:
    write(task.worktree / "new", "x")
    index = task.store.task(TASK).index_file
    index.write_bytes(b"DIRC torn")
    assert seen(task) == {b"new"}
    assert index.read_bytes() == b"DIRC torn"
    index.unlink()
    assert seen(task) == {b"new"}
    assert not index.exists()


def test_a_workspace_that_is_gone_is_told(task: World) -> None:
    task.worktree.rename(task.directory / "aside")
    with pytest.raises(WorkspaceMissing):
        seen(task)


Failing = Callable[..., list[Path]]


@pytest.fixture
def failing(task: World, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Let looks fail in turn, and say whether there is room at home and which place is outside."""

    def failing(
        *errors: Exception, room: bool = True, outside: Path | None = None, begins: bool = False
    ) -> list[Path]:
        left, places = list(errors), list[Path]()
        really = TreeLook.present_tree

        def present_tree(work: TreeLook) -> Sha:
            places.append(work.task.path)
            if left:
                raise left.pop(0)
            return really(work)

        monkeypatch.setattr(TreeLook, "present_tree", present_tree)
        monkeypatch.setattr(peeks, "has_room", lambda _root: room)
        monkeypatch.setattr(peeks, "elsewhere", lambda _store, _unique: outside)
        if begins:
            monkeypatch.setattr(peeks, "place_for", lambda *_: outside)
        return places

    return failing


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_where_the_home_is_full_it_is_made_outside(
    task: World, failing: Failing, tmp_path: Path, number: int
) -> None:
    write(task.worktree / "new", "x")
    outside = tmp_path / "outside"
    places = failing(OSError(number, "full"), outside=outside)
    with peeks.peek(task.store, request(task), unique="u") as found:
        assert [path.exists() for path in places] == [False, True]
        assert found.store.read_blob(blob(task, b"x"), 1) == b"x"
    assert places == [task.store.root / "peeks/u", outside]
    assert not any(place.exists() for place in places)


def test_a_git_that_fails_where_there_is_no_room_counts_as_full(
    task: World, failing: Failing, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    places = failing(BROKEN, BROKEN, room=False, outside=outside)
    assert seen(task) == set()
    assert places[2:] == [outside]


def test_what_fails_for_another_reason_is_told_at_once(
    task: World, failing: Failing, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    for errors, expected in (
        ((BROKEN, BROKEN), CommandFailed),
        ((OSError(errno.EIO, "a bad disk"),), OSError),
        ((FileNotFoundError("a file"),), SnapshotFailed),
    ):
        places = failing(*errors, outside=outside)
        with pytest.raises(expected):
            seen(task)
        assert outside not in places
    assert not (task.store.root / "peeks/u").exists()


def test_without_room_anywhere_that_is_told(task: World, failing: Failing, tmp_path: Path) -> None:
    failing(FULL)
    with pytest.raises(NoRoom):
        seen(task)
    outside = tmp_path / "outside"
    places = failing(FULL, FULL, outside=outside)
    with pytest.raises(NoRoom):
        seen(task)
    assert places[-1] == outside
    places = failing(FULL, FULL, outside=outside, begins=True)
    with pytest.raises(NoRoom):
        seen(task)
    assert places == [outside]
    assert not outside.exists()
