"""Which files of a checkout changed since a moment, as git and the change times tell."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from siding.record.snapshots import checkout_changes
from siding.record.snapshots.checkout_changes import finish, start, tracked_count
from siding.record.snapshots.store import SnapshotStore, TaskDirectory

from .world import TASK, World, write

SINCE = 1_000


class Checkout:
    """Ada's checkout, in which change times are what a test says: an old one if it says nothing."""

    def __init__(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.world, self.root = world, world.root
        self.store: SnapshotStore = world.store
        self.task: TaskDirectory = self.store.task(TASK)
        self.task.path.mkdir(parents=True)
        (self.task.path / "commondir").write_text("../..\n")
        (self.task.path / "HEAD").write_text(f"ref: {self.task.ref}\n")
        self.task.excludes.write_text("*.swp\n")
        self.times: dict[str, int] = {}
        lstat = os.lstat

        def looked(path: bytes) -> SimpleNamespace:
            lstat(path)
            name = os.path.relpath(os.fsdecode(path), self.root)
            return SimpleNamespace(st_ctime_ns=self.times.get(name, SINCE - 1))

        monkeypatch.setattr(
            checkout_changes, "os", SimpleNamespace(**{**vars(os), "lstat": looked})
        )

    def changed(self) -> list[bytes] | None:
        look = start(
            self.store,
            self.task,
            root=self.root,
            index=self.root / ".git/index",
            since_ns=SINCE,
        )
        return finish(look)


@pytest.fixture
def checkout(world: World, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    return Checkout(world, monkeypatch)


def test_only_what_changed_since_then_is_named(checkout: Checkout) -> None:
    for name in ("a.txt", "src/b.txt", "new", "src/new", "x.swp"):
        write(checkout.root / name, "changed\n")
        checkout.times[name] = SINCE
    assert checkout.changed() == [b"a.txt", b"new", b"src/b.txt", b"src/new"]
    checkout.times = {"a.txt": SINCE - 1, "new": SINCE, "src/b.txt": SINCE + 1}
    assert checkout.changed() == [b"new", b"src/b.txt"]
    checkout.times = {"src/deep/c.txt": SINCE}  # as git knows it: its times alone say nothing
    assert checkout.changed() == []


def test_the_files_of_an_untracked_directory_are_named_but_no_repositorys(
    checkout: Checkout,
) -> None:
    names = ["new/1", "new/deep/2", "new/repository/3", "new/repository/.git/HEAD"]
    names += ["new/linked/4", "new/linked/deep/5"]
    for name in names:
        write(checkout.root / name, "x")
    (checkout.root / "new/linked/.git").write_text("gitdir: elsewhere\n")
    checkout.times = dict.fromkeys(names, SINCE)
    checkout.times["new/deep/2"] = SINCE - 1
    assert checkout.changed() == [b"new/1"]
    checkout.times["new/deep/2"] = SINCE
    assert checkout.changed() == [b"new/1", b"new/deep/2"]


def test_so_many_files_of_directories_are_looked_at_and_no_more(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("new/1", "new/2", "new/3", "one", "two"):
        write(checkout.root / name, "x")
        checkout.times[name] = SINCE
    monkeypatch.setattr(checkout_changes, "MOST_LOOKED_AT", 2)
    found = checkout.changed()
    assert found is not None
    assert [name for name in found if b"/" not in name] == [b"one", b"two"]
    assert len(found) == 4


@pytest.mark.parametrize(
    ("gone", "times", "found"),
    [
        ("src/b.txt", {"src": SINCE}, [b"src/b.txt"]),
        ("src/b.txt", {"src": SINCE - 1, ".": SINCE}, []),
        ("src/deep", {"src": SINCE}, [b"src/deep/c.txt"]),
        ("src/deep", {"src": SINCE - 1, ".": SINCE}, []),
        ("src", {".": SINCE}, [b"src/b.txt", b"src/deep/c.txt"]),
        ("src", {".": SINCE - 1}, []),
        ("a.txt", {".": SINCE}, [b"a.txt"]),
        ("a.txt", {".": SINCE - 1}, []),
    ],
)
def test_of_a_missing_file_the_nearest_directory_tells(
    checkout: Checkout, gone: str, times: dict[str, int], found: list[bytes]
) -> None:
    (checkout.root / gone).rename(checkout.world.directory / "aside")
    checkout.times = times
    assert checkout.changed() == found


def test_a_checkout_that_goes_away_meanwhile_has_changed(checkout: Checkout) -> None:
    write(checkout.root / "a.txt", "changed\n")
    look = start(
        checkout.store,
        checkout.task,
        root=checkout.root,
        index=checkout.root / ".git/index",
        since_ns=SINCE,
    )
    done = look.running.finish()
    checkout.root.rename(checkout.world.directory / "aside")
    ended = SimpleNamespace(finish=lambda: done)
    assert finish(look._replace(running=ended)) == [b"a.txt"]  # type: ignore[arg-type]


def test_what_git_cannot_tell_is_nothing_known(checkout: Checkout) -> None:
    (checkout.root / ".git/index").write_bytes(b"DIRC damaged")
    assert checkout.changed() is None


def test_how_many_files_an_index_names(checkout: Checkout, tmp_path: Path) -> None:
    assert tracked_count(checkout.root / ".git/index") == 3
    assert tracked_count(tmp_path / "nothing") is None
    (tmp_path / "other").write_bytes(b"DIRC\0\0\0\2\0\0\0")
    assert tracked_count(tmp_path / "other") is None
