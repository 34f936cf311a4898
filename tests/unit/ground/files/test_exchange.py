"""Putting a file in place without destroying what is there, with and without the kernel's help."""

import ctypes
import errno
import fcntl
import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from siding.ground.files import attributes, exchange
from siding.ground.files.attributes import CANNOT_EXCHANGE, file_system_of, has_writer, mount_of
from siding.ground.files.exchange import Entry, put, rename_new

Directory = Callable[[str], Entry]


class OldLibrary:
    """A C library that has `syscall()` and no `renameat2()`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.syscall = library.syscall


class LibraryOfMacOS:
    """A C library with `renameatx_np()` in place of `renameat2()`, as its manual page says it.

    RENAME_SWAP (2) exchanges the names, RENAME_EXCL (4) fails with EEXIST, other flags with EINVAL.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        def renameatx_np(old: int, name: bytes, new: int, other: bytes, flags: int) -> int:
            known = {0: 0, 2: 2, 4: 1}
            if flags in known:
                return int(library.renameat2(old, name, new, other, known[flags]))
            ctypes.set_errno(errno.EINVAL)
            return -1

        self.renameatx_np: Callable[..., int] = renameatx_np


linux = pytest.mark.skipif(sys.platform != "linux", reason="a call of Linux")
ON_MACOS = pytest.param("macOS", marks=linux)
BY_NUMBER = pytest.param("by the call's number", marks=linux)


@pytest.fixture(params=["one step", BY_NUMBER, ON_MACOS, "several steps", "without links"])
def entry(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Directory]:
    """Names in a directory, where the kernel can exchange them and where it cannot."""
    if request.param == "by the call's number":
        library = OldLibrary(ctypes.CDLL(None, use_errno=True))
        with monkeypatch.context() as patch:
            patch.setattr(ctypes, "CDLL", lambda *_name, **_more: library)
            call = exchange._found_call()
        monkeypatch.setattr(exchange, "_CALL", call)
    elif request.param == "macOS":
        real = ctypes.CDLL(None, use_errno=True)
        with monkeypatch.context() as patch:
            patch.setattr(exchange, "_ON_MACOS", True)
            patch.setattr(ctypes, "CDLL", lambda *_name, **_more: LibraryOfMacOS(real))
            call = exchange._found_call()
        monkeypatch.setattr(exchange, "_CALL", call)
        monkeypatch.setattr(exchange, "_NOREPLACE", 4)
    elif request.param != "one step":
        monkeypatch.setattr(exchange, "_CALL", exchange._no_call)
    if request.param == "without links":
        monkeypatch.setattr(os, "link", refused)
    fd = os.open(tmp_path, os.O_RDONLY)
    yield lambda name: Entry(fd, os.fsencode(name))
    os.close(fd)


def refused(*_args: object, **_more: object) -> None:
    raise PermissionError(errno.EPERM, "this file system has no links")


def displaced(directory: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(directory.iterdir()) if path.name != "place"]


def test_a_file_goes_where_nothing_is(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    assert not put(entry("new"), entry("place"))
    assert (tmp_path / "place").read_bytes() == b"new"
    assert displaced(tmp_path) == []


def test_what_was_there_is_kept(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "place").write_bytes(b"old")
    inode = (tmp_path / "place").stat().st_ino
    assert put(entry("new"), entry("place"))
    assert (tmp_path / "place").read_bytes() == b"new"
    (left,) = [path for path in tmp_path.iterdir() if path.name != "place"]
    assert (left.read_bytes(), left.stat().st_ino) == (b"old", inode)
    assert left.name.partition(".")[0] == "new"


@linux
@pytest.mark.parametrize("entry", ["one step", "by the call's number"], indirect=True)
def test_where_the_kernel_exchanges_names_there_is_always_a_file_in_the_place(
    entry: Directory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps there would be none for a moment; so the steps are not to be taken here."""
    monkeypatch.setattr(os, "rename", refused)
    monkeypatch.setattr(os, "link", refused)
    (tmp_path / "new").write_bytes(b"new")
    assert not put(entry("new"), entry("place"))
    (tmp_path / "new").write_bytes(b"newer")
    assert put(entry("new"), entry("place"))
    assert (tmp_path / "place").read_bytes() == b"newer"
    assert (tmp_path / "new").read_bytes() == b"new"


@pytest.mark.parametrize("platform", ["darwin", "a processor nobody knows"])
def test_where_the_call_is_not_known_it_is_done_in_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    with monkeypatch.context() as patch:
        if platform == "darwin":
            patch.setattr(exchange, "_ON_MACOS", True)
        else:
            patch.setattr(ctypes, "CDLL", lambda *_name, **_more: object())
            patch.setattr(exchange, "_NUMBERS", {})
        call = exchange._found_call()
    monkeypatch.setattr(exchange, "_CALL", call)
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "place").write_bytes(b"old")
    fd = os.open(tmp_path, os.O_RDONLY)
    assert put(Entry(fd, b"new"), Entry(fd, b"place"))
    os.close(fd)
    assert (tmp_path / "place").read_bytes() == b"new"
    assert displaced(tmp_path) == [b"old"]


def test_a_link_is_exchanged_itself(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"elsewhere")
    (tmp_path / "place").symlink_to("elsewhere")
    (tmp_path / "new").symlink_to("nowhere")
    assert put(entry("new"), entry("place"))
    assert os.readlink(tmp_path / "place") == "nowhere"
    assert (tmp_path / "elsewhere").read_bytes() == b"elsewhere"


def test_a_directory_with_files_is_kept_whole(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place/file").write_bytes(b"below")
    (tmp_path / "new").write_bytes(b"new")
    assert put(entry("new"), entry("place"))
    assert (tmp_path / "place").read_bytes() == b"new"
    (left,) = [path for path in tmp_path.iterdir() if path.name != "place"]
    assert (left / "file").read_bytes() == b"below"


def test_nothing_is_put_over_something(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "place").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        rename_new(entry("new"), entry("place"))
    assert (tmp_path / "place").read_bytes() == b"old"
    assert (tmp_path / "new").read_bytes() == b"new"


def test_nothing_is_put_over_a_link_that_leads_nowhere(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "place").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        rename_new(entry("new"), entry("place"))
    assert os.readlink(tmp_path / "place") == "nowhere"


def test_a_file_that_is_made_in_this_very_moment_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was in the place when names were to be exchanged, and now a file is."""
    call, left = exchange._CALL, [b"hers"]

    def saved_behind_it(*words: object) -> int:
        result = call(*words)
        number = ctypes.get_errno()
        if left:
            (tmp_path / "place").write_bytes(left.pop())
        ctypes.set_errno(number)
        return result

    monkeypatch.setattr(exchange, "_CALL", saved_behind_it)
    (tmp_path / "new").write_bytes(b"new")
    fd = os.open(tmp_path, os.O_RDONLY)
    assert put(Entry(fd, b"new"), Entry(fd, b"place"))
    os.close(fd)
    assert (tmp_path / "place").read_bytes() == b"new"
    assert displaced(tmp_path) == [b"hers"]


def test_the_new_file_is_missing(entry: Directory, tmp_path: Path) -> None:
    (tmp_path / "place").write_bytes(b"old")
    with pytest.raises(FileNotFoundError):
        put(entry("new"), entry("place"))
    assert (tmp_path / "place").read_bytes() == b"old"


def test_a_disk_that_fails_between_two_steps_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_CALL", exchange._no_call)
    real, seen = os.link, []

    def failing(*args: Any, **more: Any) -> None:
        seen.append(args)
        if len(seen) == 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(*args, **more)

    monkeypatch.setattr(os, "link", failing)
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "place").write_bytes(b"old")
    fd = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(OSError, match="Input/output error"):
        put(Entry(fd, b"new"), Entry(fd, b"place"))
    os.close(fd)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == {
        "new": b"new",
        "place": b"old",
    }


def test_files_made_in_the_moment_without_one_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps, the place is free for a moment: whoever fills it then loses nothing."""
    monkeypatch.setattr(exchange, "_CALL", exchange._no_call)
    rename, left = os.rename, [b"second", b"third"]

    def renamed_and_filled(source: bytes, target: bytes, **more: int) -> None:
        rename(source, target, **more)
        if source == b"place" and left:
            (tmp_path / "place").write_bytes(left.pop(0))

    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "place").write_bytes(b"first")
    monkeypatch.setattr(os, "rename", renamed_and_filled)
    fd = os.open(tmp_path, os.O_RDONLY)
    assert put(Entry(fd, b"new"), Entry(fd, b"place"))
    os.close(fd)
    assert (tmp_path / "place").read_bytes() == b"new"
    assert displaced(tmp_path) == [b"first", b"second", b"third"]


def test_a_disk_error_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_words: object) -> int:
        ctypes.set_errno(errno.ENOSPC)
        return -1

    monkeypatch.setattr(exchange, "_CALL", full)
    (tmp_path / "new").write_bytes(b"new")
    fd = os.open(tmp_path, os.O_RDONLY)
    (tmp_path / "place").write_bytes(b"old")
    for act in (put, rename_new):
        with pytest.raises(OSError, match="No space left"):
            act(Entry(fd, b"new"), Entry(fd, b"place" if act is put else b"free"))
    os.close(fd)
    assert (tmp_path / "place").read_bytes() == b"old"
    assert displaced(tmp_path) == [b"new"]


def test_what_a_directory_is_mounted_from(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    assert mount_of(tmp_path) == mount_of(tmp_path / "below")
    assert file_system_of(tmp_path) not in CANNOT_EXCHANGE
    if sys.platform == "linux":
        assert file_system_of(Path("/proc")) == "proc"
        assert mount_of(Path("/proc")) != mount_of(tmp_path)


def test_a_disk_error_of_a_link_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where links cannot be is the file renamed, which could destroy what comes meanwhile."""

    def full(*_words: object, **_more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(exchange, "_CALL", exchange._no_call)
    monkeypatch.setattr(os, "link", full)
    (tmp_path / "new").write_bytes(b"new")
    fd = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(OSError, match="No space left"):
        put(Entry(fd, b"new"), Entry(fd, b"place"))
    os.close(fd)
    assert displaced(tmp_path) == [b"new"]


def test_a_directory_is_found_in_the_table_of_mounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mountinfo = (
        b"7 1 0:21 / /proc rw - proc proc rw\n"
        b"42 7 8:1 / /home rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2\n"
        b"43 7 8:2 / / rw - ext4 /dev/root rw\n"
    )

    def read(path: Path) -> bytes:
        return mountinfo if path.name == "mountinfo" else b"pos:\t0\nmnt_id:\t42\nino:\t9\n"

    monkeypatch.setattr(attributes, "read_small", read)
    assert mount_of(tmp_path) == "42"
    assert file_system_of(tmp_path) == "nfs4"


def test_where_there_is_no_table_of_mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "read_small", lambda _path: None)
    assert (mount_of(tmp_path), file_system_of(tmp_path)) == ("", "")


@linux
def test_looking_for_a_mount_leaves_no_file_open(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    mount_of(tmp_path)
    assert os.listdir("/proc/self/fd") == before


OTHER = "import sys; f = open(sys.argv[1], sys.argv[2]); print(flush=True); sys.stdin.read()"


@linux
@pytest.mark.parametrize(("mode", "writes"), [("ab", True), ("r+b", True), ("rb", False)])
def test_another_process_has_the_file_open(tmp_path: Path, mode: str, writes: bool) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"data")
    fd = os.open(path, os.O_RDONLY)
    pipe = subprocess.PIPE
    argv = [sys.executable, "-c", OTHER, str(path), mode]
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        os.rename(path, tmp_path / "moved")  # the name does not matter
        assert has_writer(fd) is writes
        assert other.stdin is not None
        other.stdin.close()
        other.wait()
    assert has_writer(fd) is False
    os.close(fd)


@linux
def test_a_mapping_counts_as_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"data")
    fd, writing = os.open(path, os.O_RDONLY), os.open(path, os.O_RDWR)
    mapped = mmap.mmap(writing, 4)
    os.close(writing)
    if has_writer(fd) is False:
        pytest.skip("this file system (overlayfs) does not know of mappings")
    mapped.close()
    assert has_writer(fd) is False
    os.close(fd)


@linux
def test_nobody_has_to_wait_for_us_afterwards(tmp_path: Path) -> None:
    """A lease that is still held would stop the next program that opens the file for writing."""
    path = tmp_path / "file"
    path.write_bytes(b"data")
    with path.open("rb") as file:
        assert has_writer(file.fileno()) is False
        assert fcntl.fcntl(file, fcntl.F_GETLEASE) == fcntl.F_UNLCK


@linux
def test_a_writer_that_comes_meanwhile_does_not_end_us(tmp_path: Path) -> None:
    """Its open() breaks the lease, which sends a signal; the default of that one would kill."""
    path = tmp_path / "file"
    path.write_bytes(b"data")
    asks = (
        "import os, sys; from siding.ground.files.attributes import has_writer\n"
        "fd = os.open(sys.argv[1], os.O_RDONLY)\n"
        "print(sum(has_writer(fd) is True for _ in range(20000)))"
    )
    argv = [sys.executable, "-c", asks, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as asking:
        while asking.poll() is None:
            path.open("ab").close()
    assert asking.returncode == 0
