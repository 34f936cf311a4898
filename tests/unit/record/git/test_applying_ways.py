"""What is in the way of a change in the person's checkout: only what it would overwrite."""

from siding.ground.ids import Sha
from siding.record.moving.checkout import in_the_way
from siding.record.snapshots.patches import Change

from .moving import Ready
from .world import write

NOTHING, FILE = "000000", "100644"
ZEROS, SHA = Sha("0" * 40), Sha("ab" * 20)


def added(path: bytes) -> Change:
    return Change("A", path, NOTHING, FILE, ZEROS, SHA)


def removed(path: bytes) -> Change:
    return Change("D", path, FILE, NOTHING, SHA, ZEROS)


def in_way(ready: Ready, *changes: Change) -> set[bytes]:
    assert ready.move.checkout is not None
    return in_the_way(ready.move.checkout, changes)


def test_a_file_that_becomes_a_directory_is_not_in_its_own_way(ready: Ready) -> None:
    assert in_way(ready, removed(b"gone"), added(b"gone/inner/file")) == set()


def test_an_unknown_file_is_in_the_way_of_a_directory(ready: Ready) -> None:
    assert in_way(ready, added(b"unknown/inner/file")) == {b"unknown"}
    (ready.world.root / "unknown").unlink()
    (ready.world.root / "unknown").symlink_to("src")
    assert in_way(ready, added(b"unknown/file")) == {b"unknown"}
    (ready.world.root / "unknown").unlink()
    assert in_way(ready, added(b"unknown/file")) == set()


def test_no_more_than_that(ready: Ready) -> None:
    write(ready.world.root / "there/unknown", "unknown\n")
    assert in_way(ready, added(b"there/new"), added(b"new"), removed(b"unknown")) == set()
    assert in_way(ready, added(b"there")) == {b"there/unknown"}
    assert in_way(ready, added(b"there"), removed(b"there/unknown")) == set()
