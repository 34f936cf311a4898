"""What returns has flushed: each file after its last write, each directory after its last name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from flushes import Watcher
from planted import planted
from siding.ground.files.durable import (
    create_bytes,
    flush_dir,
    make_dirs,
    move_aside,
    remove_file,
    replace_by_lock,
    replace_bytes,
)
from siding.ground.git.objects import write_object
from siding.ground.git.refs import write_ref
from siding.ground.storage.documents import migrate_document, write_document
from siding.ground.storage.journals import Journal


def _append_twice(root: Path) -> None:
    Journal(root / "new.jsonl").append({"n": 1})
    Journal(root / "old.jsonl").append({"n": 1})


def _move_to_other_directory(root: Path) -> None:
    move_aside(root / "old", root / "trash" / "old")
    move_aside(root / "dir", root / "trash" / "dir")


def _migrate(root: Path) -> None:
    migrate_document(root / "old.json", what="toy", version=2, migrations={1: dict})


def _write_object(root: Path) -> None:
    (root / "objects").mkdir()
    write_object(root / "objects", "blob", b"new", "sha1")
    flush_dir(root / "objects")
    flush_dir(root)


ACTS: dict[str, Callable[[Path], object]] = {
    "append": _append_twice,
    "create": lambda root: create_bytes(root / "new", b"new"),
    "document": lambda root: write_document(root / "old.json", {"n": 2}),
    "make_dirs": lambda root: make_dirs(root / "a" / "b" / "c"),
    "migrate": _migrate,
    "move": _move_to_other_directory,
    "remove": lambda root: remove_file(root / "old"),
    "replace": lambda root: replace_bytes(root / "old", b"new"),
    "git: HEAD": lambda root: replace_by_lock(root / "HEAD", b"new"),
    "git: ref": lambda root: write_ref(root, "refs/tasks/one/two", "0" * 40),
    "git: object": _write_object,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "trash").mkdir()
    (tmp_path / "dir").mkdir()
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "old.json").write_bytes(b'{"n": 1}')
    (tmp_path / "old.jsonl").write_bytes(b'{"n": 0}\n')
    return tmp_path


@pytest.mark.parametrize("name", ACTS)
def test_what_returns_has_flushed_what_it_changed(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    watcher = Watcher(monkeypatch)
    ACTS[name](root)
    assert watcher.unflushed() == set()
    assert watcher.calls
    assert not watcher.renamed_unflushed_bytes()


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("append", "skip-fsync"),
        ("document", "skip-fsync"),
        ("git: HEAD", "skip-fsync"),
        ("git: ref", "skip-fsync"),
        ("git: object", "skip-fsync"),
        *((name, "skip-directory-fsync") for name in ACTS if name != "append"),
    ],
)
def test_the_gate_sees_a_missing_flush(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: str
) -> None:
    watcher = Watcher(monkeypatch)
    with planted(fault):
        ACTS[name](root)
    assert watcher.unflushed()


def test_a_journals_name_is_flushed_before_its_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watcher = Watcher(monkeypatch)
    Journal(tmp_path / "j.jsonl").append({})
    status = tmp_path.stat()
    names = [name for name, _ in watcher.calls]
    assert names == ["fsync", "write", "fsync"]
    assert watcher.calls[0][1] == (status.st_dev, status.st_ino)


def test_a_found_directory_whose_maker_may_have_died_is_flushed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "made" / "by").mkdir(parents=True)
    watcher = Watcher(monkeypatch)
    make_dirs(tmp_path / "made" / "by")
    status = (tmp_path / "made").stat()
    assert watcher.calls == [("fsync", (status.st_dev, status.st_ino))]


@pytest.mark.parametrize(("mode", "count"), [(0o700, 0), (0o755, 1)])
def test_a_found_directory_of_ours_with_something_in_it_was_flushed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, count: int
) -> None:
    def flushes() -> int:
        watcher = Watcher(monkeypatch)
        make_dirs(tmp_path / "one")
        return sum(name == "fsync" for name, _ in watcher.calls)

    (tmp_path / "one").mkdir(mode)
    assert flushes() == 1  # by somebody who died before the flush
    (tmp_path / "one" / "file").touch()  # by somebody who had called `make_dirs`
    assert flushes() == count
