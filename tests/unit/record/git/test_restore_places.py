"""What a restoration meets in the worktree: directories, permissions, and a disk that fails."""

import errno
import os
import stat
import tempfile
from pathlib import Path

import pytest

from flushes import Watcher
from siding.ground.files.exchange import Entry, put
from siding.ground.git.errors import GitError
from siding.record.files import staging as stagings
from siding.record.files.plan import Restoration, plan_restoration
from siding.record.files.restore import restore
from siding.record.files.staging import staged
from siding.record.snapshots.mode_changes import ModeChange
from siding.record.snapshots.patches import diff_trees

from .world import World, on_disk, write


@pytest.fixture
def back(task: World) -> Restoration:
    """The way back from a step that changed two files and made one."""
    first = task.capture().snapshot
    write(task.worktree / "a.txt", "changed\n")
    write(task.worktree / "src/b.txt", "changed\n")
    write(task.worktree / "made", "made\n")
    return plan_restoration(diff_trees(task.store, task.capture().snapshot, first))


def go(world: World, plan: Restoration) -> dict[str, bytes]:
    """Restore; return the displaced files by their names below the staging directory."""
    staging = world.directory / "staging"
    with staged(world.store, world.where, plan, staging) as contents:
        restore(world.where, plan, contents)
    return files_below(staging)


def files_below(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != "names"
    }


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_was_displaced_before_the_disk_failed_is_kept(
    task: World, back: Restoration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The staging directory then holds the only copy of what stood in the worktree."""
    left = [1]

    def put_one(new: Entry, place: Entry) -> bool:
        if not left:
            raise OSError(errno.EIO, "the disk fails")
        left.pop()
        return put(new, place)

    monkeypatch.setattr("siding.record.files.restore.put", put_one)
    with pytest.raises(OSError, match="the disk fails"):
        go(task, back)
    held = files_below(task.directory / "staging").values()
    assert {b"made\n", b"changed\n"} <= {*held}
    assert (task.worktree / "src/b.txt").read_bytes() == b"changed\n"


def test_nothing_is_kept_of_what_failed_before_it_began(
    task: World, back: Restoration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "no room")

    before = on_disk(task.worktree)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refused)
        with pytest.raises(OSError, match="no room"):
            go(task, back)
    assert not (task.directory / "staging").exists()
    assert on_disk(task.worktree) == before


def test_nothing_is_left_where_nothing_was_displaced(task: World) -> None:
    first = task.capture().snapshot
    (task.worktree / "a.txt").unlink()
    assert go(task, plan_restoration(diff_trees(task.store, task.capture().snapshot, first))) == {}
    assert (task.worktree / "a.txt").read_bytes() == b"one\n"
    assert not (task.directory / "staging").exists()


@pytest.mark.parametrize("singly", [True, False])
def test_contents_are_durable_before_the_worktree_is_touched(
    task: World, back: Restoration, monkeypatch: pytest.MonkeyPatch, singly: bool
) -> None:
    syncs: list[None] = []
    monkeypatch.setattr(os, "sync", lambda: syncs.append(None))
    monkeypatch.setattr(stagings, "_FLUSHED_SINGLY", 2 if singly else 1)
    staging = task.directory / "staging"
    watcher = Watcher(monkeypatch)
    with staged(task.store, task.where, back, staging):
        unflushed = {inode for _name, inode in watcher.unflushed()}
        for path in (staging, staging / "names", *([staging / "0", staging / "1"] * singly)):
            assert (path.stat().st_dev, path.stat().st_ino) not in unflushed, path
    assert len(syncs) == (0 if singly else 1)


def test_a_worktree_on_another_file_system_is_refused(task: World, back: Restoration) -> None:
    """Files could not be renamed into place there."""
    device = task.worktree.stat().st_dev
    others = [Path(place) for place in ("/dev/shm", "/tmp", "/var/tmp")]
    found = [place for place in others if place.is_dir() and place.stat().st_dev != device]
    if not found:
        pytest.skip("everything is on one file system here")
    with (
        tempfile.TemporaryDirectory(dir=found[0]) as elsewhere,
        pytest.raises(GitError, match="another file system"),
        staged(task.store, task.where, back, Path(elsewhere, "staging")),
    ):
        pass


def test_empty_directories_where_a_file_shall_be_are_removed(
    task: World, back: Restoration
) -> None:
    (task.worktree / "a.txt").unlink()
    (task.worktree / "a.txt/x/y").mkdir(parents=True)
    (task.worktree / "a.txt/z").mkdir()
    displaced = go(task, back)
    assert (task.worktree / "a.txt").read_bytes() == b"one\n"
    assert sorted(displaced.values()) == [b"changed\n", b"made\n"]
    assert not [path for path in (task.directory / "staging").iterdir() if path.is_dir()]


def test_a_directory_with_files_is_displaced_whole(task: World, back: Restoration) -> None:
    """Somebody made it after all looks at the worktree."""
    (task.worktree / "a.txt").unlink()
    write(task.worktree / "a.txt/x/hers", "hers\n")
    displaced = go(task, back)
    assert (task.worktree / "a.txt").read_bytes() == b"one\n"
    assert b"hers\n" in displaced.values()
    (name,) = [name for name, content in displaced.items() if content == b"hers\n"]
    assert name.endswith("/x/hers")


def test_a_directory_in_the_place_of_a_file_to_delete_stays(task: World, back: Restoration) -> None:
    (task.worktree / "made").unlink()
    write(task.worktree / "made/hers", "hers\n")
    go(task, back)
    assert (task.worktree / "made/hers").read_bytes() == b"hers\n"
    assert (task.worktree / "a.txt").read_bytes() == b"one\n"


def test_a_file_to_delete_that_is_gone_is_passed_over(task: World, back: Restoration) -> None:
    (task.worktree / "made").unlink()
    assert sorted(go(task, back).values()) == [b"changed\n", b"changed\n"]


def test_empty_directories_come_back(task: World, back: Restoration) -> None:
    """One whose place is taken does not: what is there is not in the way of any file."""
    write(task.worktree / "taken", "hers\n")
    (task.worktree / "there").mkdir()
    (task.worktree / "there/hers").mkdir()
    wanted = (b"deep/empty", b"taken", b"taken/below", b"there")
    go(task, back._replace(directories=wanted))
    assert [*(task.worktree / "deep/empty").iterdir()] == []
    assert (task.worktree / "taken").read_bytes() == b"hers\n"
    assert (task.worktree / "there/hers").is_dir()


def test_permissions_become_those_of_the_plan(task: World, back: Restoration) -> None:
    root = task.worktree
    for name, mode in (("src", 0o755), ("src/deep", 0o755), ("src/deep/c.txt", 0o644)):
        (root / name).chmod(mode)
    write(root / "other", "a file now\n")
    (root / "now").mkdir()
    other, now = mode_of(root / "other"), mode_of(root / "now")
    chmods = (
        ModeChange(b"src", 0o755, 0o500, True),
        ModeChange(b"src/deep", 0o755, 0o2550, True),
        ModeChange(b"src/deep/c.txt", 0o644, 0o600, False),
        ModeChange(b"other", 0o755, 0o711, True),
        ModeChange(b"gone", 0o755, 0o711, True),
        ModeChange(b"now", 0o644, 0o600, False),
    )
    go(task, back._replace(chmods=chmods))
    found = [mode_of(root / name) for name in ("src", "src/deep", "src/deep/c.txt")]
    assert found == [0o500, 0o2550, 0o600]
    assert (mode_of(root / "other"), mode_of(root / "now")) == (other, now)
    assert (root / "src/b.txt").read_bytes() == b"two\n"


def test_no_file_is_put_into_a_directory_that_others_may_still_read(
    task: World, back: Restoration, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def put_and_look(new: Entry, place: Entry) -> bool:
        seen.append(stat.S_IMODE(os.fstat(place.directory).st_mode))
        return put(new, place)

    monkeypatch.setattr("siding.record.files.restore.put", put_and_look)
    root = task.worktree
    (root / "src").chmod(0o755)
    usual = mode_of(root)
    chmods = (ModeChange(b"src", 0o755, 0o500, True),)
    go(task, back._replace(chmods=chmods))
    assert seen == [usual, 0o700]
    assert mode_of(root / "src") == 0o500


def test_changed_permissions_are_flushed(
    task: World, back: Restoration, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[tuple[int, int]] = []
    really = os.fsync

    def fsync(fd: int) -> None:
        flushed.append((os.fstat(fd).st_ino, stat.S_IMODE(os.fstat(fd).st_mode)))
        really(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    (task.worktree / "src/deep").chmod(0o755)
    go(task, back._replace(chmods=(ModeChange(b"src/deep", 0o755, 0o711, True),)))
    assert ((task.worktree / "src/deep").stat().st_ino, 0o711) in flushed
