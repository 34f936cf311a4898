"""What a worktree has that git does not show, looked for with and without a memory of before."""

import errno
import os
import socket
from contextlib import nullcontext
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from siding.ground.git import cache_file
from siding.record.snapshots import directory_scan, tree_look
from siding.record.snapshots.coverage import Reason
from siding.record.snapshots.directory_scan import Scan, identity, scan_tree
from siding.record.snapshots.tree_look import unreadable


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    """A tree with some of everything, in directories that do not come sorted."""
    top = tmp_path / "work"
    for name in ("z/full", "a/full", "z/nested/.git", "a/file/below", "a/linked/x"):
        (top / name).mkdir(parents=True)
    for name in ("z/full/f", "a/full/f", "a/file/.git"):
        (top / name).write_text("")
    (top / "a/linked/.git").symlink_to("elsewhere")
    (top / "a/link").symlink_to("full")
    for name in ("z/pipe", "a/pipe", "pipe"):
        os.mkfifo(top / name)
    (top / "z/full").chmod(0o700)
    for each in ("a", "z", "a/full", "a/file", "a/linked", "a/file/below", "a/linked/x"):
        (top / each).chmod(0o755)
    top.chmod(0o750)
    return os.fsencode(top)


def test_all_that_git_does_not_show(root: bytes) -> None:
    found = scan_tree(root)
    assert found[:5] == (
        [b"a/pipe", b"pipe", b"z/pipe"],
        [b"a/file/below", b"a/linked/x"],
        [b"a/file", b"a/linked", b"z/nested"],
        [],
        [],
    )
    assert found.files == {b"a": b"link", b"a/full": b"f", b"z/full": b"f"}
    assert set(found.modes) == {
        *(b"", b"a", b"z", b"a/full", b"z/full", b"z/nested", b"a/file", b"a/file/below"),
        *(b"a/linked", b"a/linked/x"),
    }
    assert (found.modes[b""], found.modes[b"z/full"], found.modes[b"a"]) == (0o750, 0o700, 0o755)


def test_the_top_itself_is_no_nested_repository_and_not_named(tmp_path: Path) -> None:
    assert scan_tree(os.fsencode(tmp_path))[:3] == ([], [], [])
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert scan_tree(os.fsencode(tmp_path))[:3] == ([], [], [])
    (tmp_path / "empty").mkdir()
    assert scan_tree(os.fsencode(tmp_path))[:3] == ([], [b"empty"], [])


@pytest.mark.parametrize("last_first", [False, True])
def test_a_repository_is_seen_wherever_its_directory_lists_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, last_first: bool
) -> None:
    for name in ("file/.git", "file/zebra", "directory/.git/HEAD", "directory/zebra"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    scandir = os.scandir

    def in_order(path: bytes) -> Any:
        with scandir(path) as entries:
            listed = sorted(entries, key=lambda entry: entry.name, reverse=last_first)
        return nullcontext(listed)

    monkeypatch.setattr(os, "scandir", in_order)
    assert scan_tree(os.fsencode(tmp_path)).nested == [b"directory", b"file"]


def test_what_lies_outside(root: bytes) -> None:
    whole = scan_tree(root)
    assert whole.outside([]) is whole
    assert whole._replace(foreign=[b"a/full", b"z"]).outside([b"a", b"pipe"]) == Scan(
        special=[b"z/pipe"],
        empty=[],
        nested=[b"z/nested"],
        unreadable=[],
        foreign=[b"z"],
        modes={name: whole.modes[name] for name in (b"", b"z", b"z/full", b"z/nested")},
        files=whole.files,
    )


def test_what_was_seen_is_not_read_again_until_it_changes(
    root: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = tmp_path / "seen"
    read: list[bytes] = []
    scandir = os.scandir

    def noted(path: Any) -> Any:
        read.append(os.path.relpath(path, root))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", noted)
    first = scan_tree(root, memory)
    assert len(read) == len(first.modes)
    read.clear()
    assert scan_tree(root, memory) == first
    assert len(read) == len(first.modes)  # they may still change within the tick of their clock
    monkeypatch.setattr(directory_scan, "_SETTLED_AFTER_NS", -1_000_000_000)
    assert scan_tree(root, memory) == first
    read.clear()
    noted_down = memory.stat().st_mtime_ns
    assert scan_tree(root, memory) == first._replace(files={})  # of directories that were read
    assert read == []
    assert memory.stat().st_mtime_ns == noted_down
    (Path(os.fsdecode(root)) / "a/full/new").mkdir()
    os.unlink(os.path.join(root, b"z/pipe"))
    later = scan_tree(root, memory, keeps=False)
    assert later.files == {b"a/full": b"f"}
    assert memory.stat().st_mtime_ns == noted_down
    read.clear()
    assert scan_tree(root, memory) == later
    assert sorted(read) == [b"a/full", b"a/full/new", b"z"]
    assert later.empty == [b"a/file/below", b"a/full/new", b"a/linked/x"]
    assert later.special == [b"a/pipe", b"pipe"]
    read.clear()
    os.rename(os.path.join(root, b"z"), os.path.join(root, b"y"))
    os.symlink(b"y", os.path.join(root, b"z"))
    assert scan_tree(root, memory).nested == [b"a/file", b"a/linked", b"y/nested"]
    monkeypatch.setattr(cache_file, "load", lambda *_: None)
    memory.write_bytes(b"nonsense")
    assert scan_tree(root, memory).nested == [b"a/file", b"a/linked", b"y/nested"]


def test_a_directory_that_goes_away_while_it_is_looked_at(
    root: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    lstat = os.lstat

    def gone(path: Any) -> os.stat_result:
        if path == os.path.join(root, b"a/full"):
            raise FileNotFoundError(path)
        if path == os.path.join(root, b"z/full"):
            raise PermissionError(path)
        if path == os.path.join(root, b"z/nested"):
            return lstat(os.path.join(root, b"z/full/f"))  # a file by now
        return lstat(path)

    monkeypatch.setattr(os, "lstat", gone)
    found = scan_tree(root)
    assert found.unreadable == [b"z/full"]
    assert found.nested == [b"a/file", b"a/linked"]
    assert not {b"a/full", b"z/full", b"z/nested"} & found.modes.keys()


@pytest.mark.parametrize("error", [FileNotFoundError, PermissionError])
def test_what_cannot_be_looked_at_has_nothing_of_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    (tmp_path / "full/gone").mkdir(parents=True)
    os.mkfifo(tmp_path / "full/pipe")
    lost = os.fsencode(tmp_path / "full/gone")
    lstat = os.lstat

    def looked(path: Any) -> os.stat_result:
        if path == lost:
            raise error(path)
        return lstat(path)

    monkeypatch.setattr(os, "lstat", looked)
    found = scan_tree(os.fsencode(tmp_path))
    assert found.special == [b"full/pipe"]
    assert found.unreadable == ([b"full/gone"] if error is PermissionError else [])


def test_another_directory_in_its_place_is_read_whatever_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, memory = tmp_path / "work", tmp_path / "seen"
    for name in ("here/it/below", "there/it"):
        (root / name).mkdir(parents=True)
    lstat = os.lstat

    def looked(path: Any) -> Any:
        found = lstat(path)
        same = {"st_ctime_ns": 1, "st_ino": found.st_ino}
        return SimpleNamespace(**same, st_mode=found.st_mode, st_uid=found.st_uid)

    monkeypatch.setattr(os, "lstat", looked)
    assert scan_tree(os.fsencode(root), memory).empty == [b"here/it/below", b"there/it"]
    (root / "here").rename(root / "aside")
    (root / "there").rename(root / "here")
    (root / "aside").rename(root / "there")
    assert scan_tree(os.fsencode(root), memory).empty == [b"here/it", b"there/it/below"]


def test_to_root_nothing_is_somebody_elses(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:
        os.chown(root, 12345, -1)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert scan_tree(root).foreign == []


def test_directories_of_somebody_else(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.lstat(root).st_uid
    for me, foreign in ((owner, False), (0, False), (owner + 1, True)):
        monkeypatch.setattr(os, "geteuid", lambda me=me: me)
        found = scan_tree(root)
        assert found.foreign == (sorted(found.modes) if foreign else [])


def test_what_tells_one_state_of_a_file_from_another(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert identity(str(file)) is None
    file.write_text("1")
    first = identity(str(file))
    assert first == identity(os.fsencode(file))
    file.write_text("12")
    os.utime(file, ns=(0, 0))
    second = identity(str(file))
    assert second != first
    os.utime(file, ns=(0, 1))
    assert identity(str(file)) != second
    file.unlink()
    file.mkdir()
    assert identity(str(file)) != second


def test_why_a_files_bytes_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = os.fsencode(tmp_path / "file")
    assert unreadable(file) is Reason.CHANGING
    with open(file, "wb") as made:
        made.truncate((1 << 20) + 1)
    assert unreadable(file) is None
    os.symlink(b"nowhere", file + b"link")
    assert unreadable(file + b"link") is None
    os.mkfifo(file + b"pipe")
    assert unreadable(file + b"pipe") is Reason.CHANGING
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(file + b"socket")
        assert unreadable(file + b"socket") is Reason.CHANGING
    assert unreadable(b"/proc/self/mem") is Reason.UNREADABLE  # a file whose first byte is no byte

    def opened(path: bytes, *_: object, **more: Any) -> Any:
        with open(path, "ab") as other:
            other.write(b"more")
        return open(path, "rb", **more)

    monkeypatch.setattr(tree_look, "open", opened, raising=False)
    assert unreadable(file) is Reason.CHANGING


def test_a_file_that_breaks_off_is_not_readable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(size) or self.fail()

        def fail(self) -> bytes:
            raise OSError(errno.EIO, "a bad block")

    (tmp_path / "file").write_text("some")
    monkeypatch.setattr(tree_look, "open", lambda *_, **__: Broken(b"some"), raising=False)
    assert unreadable(os.fsencode(tmp_path / "file")) is Reason.UNREADABLE
