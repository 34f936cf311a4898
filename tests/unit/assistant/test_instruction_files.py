"""What stands in the place of an instruction file can be anything."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from privileges import bound_by_permissions
from siding.assistant.briefing import read_file
from siding.assistant.loop.instructions import ROOM, Found, Why
from siding.ground.errors import NotARegularFile
from siding.ground.files.regular import read_below


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path)) / "root"
    root.mkdir()
    (root.parent / "secret").write_text("secret")
    return root


def test_a_text_is_read_whole_and_as_text(root: Path) -> None:
    path = root / "AGENTS.md"
    path.write_bytes("\ufeffone\r\ntwö\r\n".encode())
    assert read_file(path, (root,)) == Found(path, "one\ntwö\n", 14)
    assert read_file(path, ()) == read_file(path, (root.parent, root))


def test_nothing_a_directory_and_a_link_to_nowhere_are_nothing(root: Path) -> None:
    (root / "directory").mkdir()
    (root / "nowhere").symlink_to("missing")
    (root / "circle").symlink_to("circle")
    (root / "file").write_text("x")
    for name in ("missing", "directory", "nowhere", "circle", "file/below", "x" * 300):
        assert read_file(root / name, (root,)) is None


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the whole path may be too long for one
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("make", [os.mkfifo, _socket, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_regular_file_never_waits(root: Path, make: Callable[[Path], None]) -> None:
    make(root / "AGENTS.md")
    assert read_file(root / "AGENTS.md", ()) is Why.NO_FILE


@pytest.mark.parametrize("data", [b"a\0b", b"\xff\xfe", "é".encode()[:1], b"PNG\x89"])
def test_what_is_no_text(root: Path, data: bytes) -> None:
    (root / "AGENTS.md").write_bytes(data)
    assert read_file(root / "AGENTS.md", (root,)) is Why.NO_TEXT


@pytest.mark.parametrize("offset", range(4))
def test_of_a_huge_file_only_a_beginning_is_read(root: Path, offset: int) -> None:
    """It has no more bytes than there are on the disk, and the last character may be cut."""
    path = root / "AGENTS.md"
    path.write_bytes(b"x" * offset + "€".encode() * ROOM.one * 2)
    os.truncate(path, 1 << 40)
    found = read_file(path, (root,))
    assert isinstance(found, Found)
    assert (found.size, found.is_whole) == (1 << 40, False)
    assert set(found.text) == ({"x", "€"} if offset else {"€"})
    assert ROOM.one < len(found.text) < 2 * ROOM.one


def test_a_link_stays_within_the_roots(root: Path) -> None:
    (root / "in").mkdir()
    (root / "in" / "x.md").write_text("x")
    (root / "AGENTS.md").symlink_to("in/x.md")
    (root / "CLAUDE.md").symlink_to(root.parent / "secret")
    (root / "out").symlink_to(root.parent)
    assert read_file(root / "AGENTS.md", (root,)) == Found(root / "in" / "x.md", "x", 1)
    assert read_file(root / "CLAUDE.md", (root,)) is Why.OUTSIDE
    assert read_file(root / "out" / "secret", (root,)) is Why.OUTSIDE
    assert read_file(root / "CLAUDE.md", ()) == Found(root.parent / "secret", "secret", 6)
    assert read_file(root / "CLAUDE.md", (root, root.parent)) == read_file(root / "CLAUDE.md", ())


def test_below_a_directory_no_link_is_followed(root: Path) -> None:
    """As it is if somebody exchanges a directory after the path was resolved."""
    (root / "in").mkdir()
    (root / "in" / "x.md").write_text("0123")
    (root / "link").symlink_to("in")
    (root / "x.md").symlink_to("in/x.md")
    data, status = read_below(root, Path("in/x.md"), 3)
    assert (data, status.st_size) == (b"012", 4)
    with pytest.raises(NotADirectoryError):
        read_below(root, Path("link/x.md"), 9)
    with pytest.raises(NotARegularFile):
        read_below(root, Path("x.md"), 9)
    before = len(os.listdir("/dev/fd"))
    for inner in ("link/x.md", "x.md", "in/missing", "in/x.md"):
        try:
            read_below(root, Path(inner), 9)
        except (OSError, NotARegularFile):
            continue
    assert len(os.listdir("/dev/fd")) == before


def test_what_may_not_be_read_is_said(root: Path) -> None:
    path = root / "AGENTS.md"
    path.write_text("x")
    path.chmod(0)
    assert bound_by_permissions(lambda: read_file(path, (root,))) is Why.DENIED
    path.chmod(0o600)
    (root / "closed").mkdir()
    (root / "closed" / "AGENTS.md").write_text("x")
    (root / "closed").chmod(0)
    try:
        closed = bound_by_permissions(lambda: read_file(root / "closed" / "AGENTS.md", (root,)))
    finally:
        (root / "closed").chmod(0o700)
    assert closed is None
