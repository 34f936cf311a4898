"""What no snapshot holds is moved out of a worktree and back: whole, with its modes, durably."""

import errno
import os
import stat
import subprocess
from pathlib import Path

import pytest

from flushes import Call, Watcher
from privileges import bound_by_permissions
from siding.ground.files.exchange import Entry
from siding.ground.git.errors import WorkspaceReplaced
from siding.ground.git.roots import WorktreeRoot, recorded_root
from siding.ground.git.treewalk import OpenTree
from siding.record.files import aside as asides
from siding.record.files.aside import listed, move_in, move_out
from siding.record.files.displaced import blob_at

PATHS = (b"log", b"a/b/log", b"a/link", b"open/x", b"cache")


@pytest.fixture
def root(tmp_path: Path) -> WorktreeRoot:
    """A worktree with ignored files, one in a directory that forbids writing, and a whole one."""
    top = tmp_path / "tree"
    for name in ("a/b/log", "log", "open/x", "open/stays", "cache/deep/y"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}\n")
    (top / "a/link").symlink_to("nowhere")
    (top / "log").chmod(0o640)
    for name, mode in (("a/b", 0o750), ("a", 0o711), ("open", 0o555), ("cache", 0o555)):
        (top / name).chmod(mode)
    return recorded_root(top)


def everything(top: Path) -> dict[str, tuple[str, str]]:
    """Return what is below a directory: its mode, and a file's content or a link's target."""
    return {
        str(path.relative_to(top)): (
            stat.filemode(path.lstat().st_mode),
            str(path.readlink())
            if path.is_symlink()
            else path.read_text()
            if path.is_file()
            else "",
        )
        for path in top.rglob("*")
    }


def test_out_and_back(root: WorktreeRoot, tmp_path: Path) -> None:
    goes_out_and_comes_back(root, tmp_path)


def test_out_and_back_of_directories_that_forbid_it(root: WorktreeRoot, tmp_path: Path) -> None:
    bound_by_permissions(lambda: goes_out_and_comes_back(root, tmp_path))


def goes_out_and_comes_back(root: WorktreeRoot, tmp_path: Path) -> None:
    before, aside = everything(root.path), tmp_path / "trash/aside"
    assert move_out(root, [*PATHS, b"missing", b"log/below"], aside) == list(PATHS)
    assert stat.S_IMODE(aside.stat().st_mode) == 0o700
    assert set(everything(root.path)) == {"open", "open/stays"}  # what it emptied is gone
    assert everything(root.path)["open"] == before["open"]
    assert everything(aside) == {k: v for k, v in before.items() if k != "open/stays"}
    assert sorted(listed(aside)) == [b"a/b/log", b"a/link", b"cache/deep/y", b"log", b"open/x"]
    assert move_in(root, aside) == (sorted(listed_paths(before)), [])
    assert everything(root.path) == before
    assert not aside.exists()
    assert move_in(root, aside) == ([], [])
    assert listed(aside) == []


def listed_paths(before: dict[str, tuple[str, str]]) -> list[bytes]:
    """What comes back at once: whole directories where none is in the tree, else what is in one."""
    return [path.encode() for path in before if path in ("a", "cache", "log", "open/x")]


def test_what_is_taken_meanwhile_stays_aside(root: WorktreeRoot, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    move_out(root, PATHS, aside)
    (root.path / "log").symlink_to("nowhere")
    (root.path / "a").write_text("a file\n")
    (root.path / "cache/other").mkdir(parents=True)
    (root.path / "open/x").mkdir()
    moved, stays = move_in(root, aside)
    assert (moved, stays) == ([b"cache/deep"], [b"a", b"log", b"open/x"])
    assert set(everything(aside)) == {"a", "a/b", "a/b/log", "a/link", "log", "open", "open/x"}
    assert (root.path / "cache/deep/y").read_text() == "cache/deep/y\n"
    assert (root.path / "a").read_text() == "a file\n"
    # A second time out: to the same place, and past what is there.
    (root.path / "a").unlink()
    (root.path / "a/b").mkdir(parents=True)
    (root.path / "a/b/log").write_text("newer\n")
    (root.path / "open/y").write_text("new\n")
    assert move_out(root, [b"log", b"a/b/log", b"open/y"], aside) == [b"open/y"]
    assert (root.path / "a/b/log").read_text() == "newer\n"


def test_below_a_file_nothing_is_put(root: WorktreeRoot, tmp_path: Path) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()
    (aside / "a").write_text("a file\n")
    assert move_out(root, [b"a/b/log", b"log"], aside) == [b"log"]
    assert (root.path / "a/b/log").exists()


@pytest.mark.parametrize("back", [False, True])
def test_another_directory_in_the_place_of_the_worktree(
    root: WorktreeRoot, tmp_path: Path, back: bool
) -> None:
    aside = tmp_path / "aside"
    if back:
        move_out(root, [b"log"], aside)
    root.path.rename(tmp_path / "elsewhere")
    root.path.mkdir()
    (root.path / "log2").write_text("somebody's\n")
    with pytest.raises(WorkspaceReplaced):
        move_in(root, aside) if back else move_out(root, [b"log2"], aside)
    assert aside.exists() == back


def test_a_place_that_is_taken_at_the_last_moment(
    root: WorktreeRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(root.path)

    def taken(_old: Entry, _new: Entry) -> None:
        raise FileExistsError

    monkeypatch.setattr(asides, "rename_new", taken)
    aside = tmp_path / "aside"
    assert bound_by_permissions(lambda: move_out(root, [b"cache", b"log"], aside)) == []
    assert everything(root.path) == before


def test_what_is_made_before_the_disk_fails_is_as_open_as_it_was(
    root: WorktreeRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later move back has the modes; and nobody looks into a directory that is being made."""
    seen = []
    really = OpenTree.set_mode

    def set_mode(tree: OpenTree, path: bytes, mode: int) -> None:
        seen.append(stat.S_IMODE(tree.mode(path) or 0))
        really(tree, path, mode)

    def fails(_old: Entry, _new: Entry) -> None:
        raise OSError(errno.EIO, "the disk fails")

    monkeypatch.setattr(OpenTree, "set_mode", set_mode)
    monkeypatch.setattr(asides, "rename_new", fails)
    for path, modes in ((b"a/b/log", {"a": 0o711, "a/b": 0o750}), (b"open/x", {"open": 0o755})):
        with pytest.raises(OSError, match="the disk fails"):
            move_out(root, [path], tmp_path / "aside")
        for name, wanted in modes.items():
            assert stat.S_IMODE((tmp_path / "aside" / name).stat().st_mode) == wanted
    assert seen == [0o700] * 3


def test_each_move_is_flushed(
    root: WorktreeRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aside = tmp_path / "aside"
    aside.mkdir()

    def unflushed(watcher: Watcher) -> set[Call]:
        there = {(s.st_dev, s.st_ino) for s in map(os.stat, _directories(tmp_path))}
        return {call for call in watcher.unflushed() if call[1] in there and call[0] == "rename"}

    with monkeypatch.context() as patch:
        watcher = Watcher(patch)
        move_out(root, PATHS, aside)
        assert unflushed(watcher) == set()
    (root.path / "a/b").mkdir(parents=True)
    (root.path / "a/link").write_text("in its place\n")
    with monkeypatch.context() as patch:
        watcher = Watcher(patch)
        move_in(root, aside)
        assert unflushed(watcher) == set()


def _directories(top: Path) -> list[Path]:
    return [top, *(path for path in top.rglob("*") if path.is_dir() and not path.is_symlink())]


# Blob ids.


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
@pytest.mark.parametrize("content", [b"", b"a\r\n\0", b"x" * (2 << 20) + b"end"])
def test_the_id_is_the_one_that_git_gives(
    tmp_path: Path, object_format: str, content: bytes
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    init = ["git", "init", "-q", f"--object-format={object_format}", str(tmp_path / "r")]
    subprocess.run(init, check=True)
    argv = ["git", "hash-object", "--no-filters", "--stdin"]
    said = subprocess.run(argv, cwd=tmp_path / "r", input=content, capture_output=True, check=True)
    full, known = os.fsencode(path), said.stdout.decode().strip()
    assert blob_at(full, object_format, "100644") == known
    assert blob_at(full, object_format, "100755") == known
    assert blob_at(full, object_format, "120000") is None
    if content and b"\0" not in content:
        return
    link = os.fsencode(tmp_path / "link")
    os.symlink(b"target", link)
    wanted = subprocess.run(
        argv, cwd=tmp_path / "r", input=b"target", capture_output=True, check=True
    )
    assert blob_at(link, object_format, "120000") == wanted.stdout.decode().strip()
    assert blob_at(link, object_format, "100644") is None


def test_reading_leaves_nothing_open(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    before = os.listdir("/proc/self/fd")
    blob_at(os.fsencode(tmp_path / "file"), "sha1", "100644")
    assert os.listdir("/proc/self/fd") == before


def test_what_is_no_file_has_no_id(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, mode in (("pipe", "100644"), ("pipe", "120000"), (".", "100644"), (".", "120000")):
        assert blob_at(os.fsencode(tmp_path / name), "sha1", mode) is None
