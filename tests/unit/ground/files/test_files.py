"""Small file operations: only regular files, never half a change, never somebody else's file."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from privileges import bound_by_permissions
from siding.ground.errors import FileTooLarge, NotARegularFile
from siding.ground.files import durable
from siding.ground.files.durable import (
    TEMPORARY_PREFIX,
    create_bytes,
    make_dirs,
    move_aside,
    remove_file,
    replace_by_lock,
    replace_bytes,
    write_all,
)
from siding.ground.files.regular import open_regular, read_bytes, read_small
from siding.ground.files.stale import remove_if_stale, stale_temporaries


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


IMPOSTORS: dict[str, Callable[[Path], object]] = {
    "directory": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "socket": _socket,
    "link to a file": lambda path: path.symlink_to(__file__),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR | os.O_CREAT | os.O_APPEND, os.O_WRONLY])
@pytest.mark.parametrize("kind", IMPOSTORS)
def test_only_regular_files_are_opened(tmp_path: Path, kind: str, flags: int) -> None:
    path = tmp_path / "file"
    IMPOSTORS[kind](path)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(NotARegularFile):
        open_regular(path, flags)
    assert os.listdir("/proc/self/fd") == before


def test_a_device_is_not_a_regular_file() -> None:
    with pytest.raises(NotARegularFile):
        read_bytes(Path("/dev/zero"))


def test_descriptors_are_not_inherited(tmp_path: Path) -> None:
    fd = open_regular(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    assert not os.get_inheritable(fd)
    os.close(fd)


@pytest.mark.parametrize("size", [0, 1, 99, 100])
def test_a_file_up_to_the_limit_is_read_whole(tmp_path: Path, size: int) -> None:
    (tmp_path / "file").write_bytes(b"x" * size)
    assert read_bytes(tmp_path / "file", limit=100) == b"x" * size


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 101)
    with pytest.raises(FileTooLarge):
        read_bytes(tmp_path / "file", limit=100)


def test_a_file_that_does_not_say_how_large_it_is_is_read_to_its_end() -> None:
    path = Path("/proc/self/cmdline")
    assert path.stat().st_size == 0
    assert read_bytes(path) == path.read_bytes() != b""
    with pytest.raises(FileTooLarge):
        read_bytes(path, limit=3)


def test_a_missing_file_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        replace_bytes(tmp_path / "no" / "file", b"")


def test_everything_is_written_however_little_the_kernel_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    with (tmp_path / "file").open("wb") as file:
        write_all(file.fileno(), b"0123456789")
    assert (tmp_path / "file").read_bytes() == b"0123456789"


def test_a_write_that_never_progresses_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", lambda _fd, _data: 0)
    with pytest.raises(OSError, match="progress"):
        write_all(1, b"x")


def test_a_replaced_file_is_for_its_owner_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    replace_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_does_not_follow_a_link(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_bytes(b"theirs")
    (tmp_path / "file").symlink_to("theirs")
    replace_bytes(tmp_path / "file", b"ours")
    assert (tmp_path / "theirs").read_bytes() == b"theirs"
    assert read_bytes(tmp_path / "file") == b"ours"


def test_a_file_whose_name_is_as_long_as_names_get_is_replaced(tmp_path: Path) -> None:
    replace_bytes(tmp_path / ("n" * 255), b"new")
    assert read_bytes(tmp_path / ("n" * 255)) == b"new"


def test_a_file_of_gits_is_replaced_by_way_of_its_lock(tmp_path: Path) -> None:
    path, left = tmp_path / "HEAD", tmp_path / "HEAD.lock"
    path.write_bytes(b"old")
    left.write_bytes(b"what a killed writer left, longer than the new")
    replace_by_lock(path, b"new", mode=0o644)
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    replace_by_lock(tmp_path / "new", b"new", mode=0o640)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_what_is_no_file_in_a_locks_place_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "HEAD"
    path.write_bytes(b"old")
    IMPOSTORS[kind](tmp_path / "HEAD.lock")
    with pytest.raises(NotARegularFile):
        replace_by_lock(path, b"new")
    assert path.read_bytes() == b"old"


def test_a_file_of_gits_that_cannot_be_replaced_leaves_no_lock(tmp_path: Path) -> None:
    (tmp_path / "HEAD").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_by_lock(tmp_path / "HEAD", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["HEAD"]


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_a_small_read_takes_what_is_no_file_for_none(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    assert read_small(path) is None
    IMPOSTORS[kind](path)
    assert read_small(path) is None


def test_a_small_read_ends_at_its_limit(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_small(tmp_path / "file", 4) == b"0123"
    assert read_small(tmp_path / "file") == b"0123456789"


def test_replacing_a_directory_fails_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_bytes(tmp_path / "dir", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["dir"]


READER = """
import sys
from pathlib import Path
from siding.ground.files.regular import read_bytes
seen = set()
print("ready", flush=True)
while b"end" not in seen:
    seen.add(read_bytes(Path(sys.argv[1]))[-3:])
    assert seen <= {b"aaa", b"bbb", b"end"}, seen
"""


def test_a_reader_never_sees_half_a_replacement(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_bytes(path, b"a" * 9000)
    command = [sys.executable, "-c", READER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader:
        assert reader.stdout
        assert reader.stdout.readline() == b"ready\n"
        for _ in range(200):
            replace_bytes(path, b"b" * 100_000)
            replace_bytes(path, b"a" * 9000)
        replace_bytes(path, b"end")
        assert reader.communicate()[1] == b""


def test_a_new_file_never_replaces_another(tmp_path: Path) -> None:
    path = tmp_path / "file"
    create_bytes(path, b"first")
    with pytest.raises(FileExistsError):
        create_bytes(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        create_bytes(tmp_path / "link", b"third")


def test_without_hard_links_a_new_file_still_never_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise PermissionError(1, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    create_bytes(tmp_path / "file", b"first")
    with pytest.raises(FileExistsError):
        create_bytes(tmp_path / "file", b"second")
    assert (tmp_path / "file").read_bytes() == b"first"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_made_directories_are_for_their_owner_and_making_them_again_is_fine(tmp_path: Path) -> None:
    for _ in range(2):
        make_dirs(tmp_path / "a" / "b" / "c")
    for name in ("a", "a/b", "a/b/c"):
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_directories_are_made_below_a_link_to_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    make_dirs(tmp_path / "link" / "a")
    assert (tmp_path / "real" / "a").is_dir()


@pytest.mark.parametrize("kind", ["file", "dangling link", "link to itself", "fifo"])
@pytest.mark.parametrize("below", ["", "a/b"])
def test_directories_are_not_made_in_what_is_none(tmp_path: Path, kind: str, below: str) -> None:
    path = tmp_path / "x"
    if kind == "file":
        path.touch()
    else:
        IMPOSTORS[kind](path)
    with pytest.raises(NotADirectoryError):
        make_dirs(path / below)


def test_files_links_and_directories_are_moved_aside(tmp_path: Path) -> None:
    (tmp_path / "trash").mkdir()
    (tmp_path / "file").write_bytes(b"file")
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "inner").write_bytes(b"inner")
    for name in ("file", "link", "dir"):
        move_aside(tmp_path / name, tmp_path / "trash" / name)
    assert [path.name for path in tmp_path.iterdir()] == ["trash"]
    assert (tmp_path / "trash" / "file").read_bytes() == b"file"
    assert (tmp_path / "trash" / "link").readlink() == Path("nowhere")
    assert (tmp_path / "trash" / "dir" / "inner").read_bytes() == b"inner"


@pytest.mark.parametrize("source", ["file", "dir"])
@pytest.mark.parametrize("target", ["file2", "dir2", "full", "link"])
def test_moving_aside_never_replaces(tmp_path: Path, source: str, target: str) -> None:
    for name in ("file", "file2"):
        (tmp_path / name).write_bytes(name.encode())
    for name in ("dir", "dir2", "full"):
        (tmp_path / name).mkdir()
    (tmp_path / "full" / "inner").touch()
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        move_aside(tmp_path / source, tmp_path / target)
    assert (tmp_path / "file").read_bytes() == b"file"
    assert (tmp_path / "file2").read_bytes() == b"file2"
    assert len(list(tmp_path.iterdir())) == 6


def test_moving_aside_what_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        move_aside(tmp_path / "nothing", tmp_path / "target")


def test_removing_is_done_once_and_fine_twice(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    remove_file(tmp_path / "file")
    remove_file(tmp_path / "file")
    remove_file(tmp_path / "no" / "file")
    assert not list(tmp_path.iterdir())


def _dead_pid() -> int:
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


def test_only_temporaries_of_dead_writers_are_removed(tmp_path: Path) -> None:
    dead = _dead_pid()
    stale = tmp_path / f"{TEMPORARY_PREFIX}{dead}.0123456789abcdef"
    kept = [
        tmp_path / f"{TEMPORARY_PREFIX}{os.getpid()}.0123456789abcdef",
        tmp_path / f"{TEMPORARY_PREFIX}1.0123456789abcdef",
        tmp_path / f"{TEMPORARY_PREFIX}nonsense",
        tmp_path / f"{TEMPORARY_PREFIX}{dead}.directory",
        tmp_path / f"other.{dead}",
    ]
    stale.touch()
    for path in kept:
        path.mkdir() if path.name.endswith("directory") else path.touch()
    assert stale_temporaries(tmp_path) == [stale]
    assert remove_if_stale(stale)
    assert not any(remove_if_stale(path) for path in (stale, *kept[:-1]))
    assert sorted(tmp_path.iterdir()) == sorted(kept)
    assert stale_temporaries(tmp_path / "missing") == []


def test_a_temporary_that_is_still_locked_is_kept(tmp_path: Path) -> None:
    """A writer in another container: its process number means nothing here."""
    directory = os.open(tmp_path, os.O_RDONLY)
    with durable._temporary(directory, b"data", 0o600) as name:
        foreign = tmp_path / name.replace(str(os.getpid()), str(_dead_pid()))
        (tmp_path / name).rename(foreign)
        assert stale_temporaries(tmp_path) == []
        assert not remove_if_stale(foreign)
    os.close(directory)
    assert stale_temporaries(tmp_path) == [foreign]
    assert remove_if_stale(foreign)


def test_in_a_directory_without_permission_nothing_changes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_bytes(path, b"old")

    def refused() -> None:
        for act in (replace_bytes, lambda p, _d: remove_file(p)):
            with pytest.raises(PermissionError):
                act(path, b"new")
        assert read_bytes(path) == b"old"

    tmp_path.chmod(0o500)
    try:
        bound_by_permissions(refused)
    finally:
        tmp_path.chmod(0o700)


WRITERS = (create_bytes, replace_bytes, replace_by_lock)


@pytest.mark.parametrize("write", WRITERS)
def test_what_is_written_is_the_owners_alone_unless_it_is_said(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    write(tmp_path / "ours", b"x")
    write(tmp_path / "shared", b"x", mode=0o640)
    modes = [(tmp_path / name).stat().st_mode & 0o7777 for name in ("ours", "shared")]
    assert modes == [0o600, 0o640]


@pytest.mark.parametrize("write", [create_bytes, replace_bytes])
def test_nobody_waits_for_a_pipe_in_the_place_of_a_directory(
    tmp_path: Path, write: Callable[..., None]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "pipe/file", b"x")
