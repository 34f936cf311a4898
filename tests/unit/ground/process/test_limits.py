"""What limits measure."""

import os
from pathlib import Path

from siding.ground.process.limit_watch import LimitWatch, private_memory, tree_size
from siding.ground.process.limits import Breach, Limits
from siding.ground.process.tree import ProcessTree


def test_a_file_with_two_names_counts_once_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    empty = tree_size(tmp_path)
    (tmp_path / "deep" / "er" / "file").write_bytes(os.urandom(100_000))
    once = tree_size(tmp_path)
    assert once - empty >= 100_000
    os.link(tmp_path / "deep" / "er" / "file", tmp_path / "again")
    (tmp_path / "link").symlink_to("/usr")
    (tmp_path / "loop").symlink_to(".")
    assert tree_size(tmp_path) - once < 10_000
    assert tree_size(tmp_path / "missing") == 0


def test_a_hole_takes_no_room(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    assert tree_size(tmp_path) < 1 << 20


def test_memory_is_what_a_process_has_to_itself() -> None:
    before = private_memory(os.getpid())
    held = bytearray(os.urandom(1 << 20) * 50)
    assert private_memory(os.getpid()) - before > 40 << 20
    assert len(held) == 50 << 20
    assert private_memory(2**22 + 1) == 0


def test_output_is_judged_as_it_comes() -> None:
    watch = LimitWatch(Limits(output=10), ProcessTree("none"), ())
    assert watch.output(10) is None
    assert watch.output(11) == Breach(what="output", allowed=10, seen=11)
    assert watch.pause(0.0) is None
    assert watch.look(0.0) is None


def test_growth_is_seen(tmp_path: Path) -> None:
    watch = LimitWatch(Limits(disk=50_000), ProcessTree("none"), (tmp_path,))
    assert watch.look(1.0) is None
    (tmp_path / "big").write_bytes(os.urandom(1_000_000))
    os.sync()
    breach = None
    while breach is None:  # room on a file system is counted late
        breach = watch.look(float("inf"))
    assert breach.what == "disk"
    assert breach.seen >= 900_000


def test_every_breach_is_a_sentence() -> None:
    for what in Limits._fields:
        sentence = Breach(what=what, allowed=1, seen=2).sentence
        assert "2" in sentence
        assert "may" in sentence
