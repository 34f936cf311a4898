"""A feed that is kept up to date: when it looks, what it follows, how it counts."""

from collections.abc import Collection
from pathlib import Path

import pytest

from siding.feed import live
from siding.feed.live import LiveFeed
from siding.feed.model import Change, Feed, RowKind, changed
from siding.feed.watch import Hints
from siding.ground.errors import SidingError
from unit.feed.folds import feed, row

ROOT = Path("/home/of/siding")


class _Ends:
    due: float | None = None

    def __init__(self) -> None:
        self.gone: set[int] = set()

    def fileno(self) -> int:
        return -1

    def follow(self, pids: Collection[int]) -> None:
        del pids

    def ended(self) -> set[int]:
        found, self.gone = self.gone, set()
        return found

    def close(self) -> None: ...


class _World:
    """A clock, a watch and a fold in the hands of a test."""

    due: float | None = None
    slow = ""

    def __init__(self) -> None:
        self.now = 1000.0
        self.look_takes = 0.0
        self.wanted: set[Path] = {ROOT / "a"}
        self.followed: set[Path] = set()
        self.waiting = Hints()
        self.ends = _Ends()
        self.pids: set[int] = set()
        self.present: list[Feed | Exception] = [feed(row("1"))]
        self.touches: list[Collection[Path]] = []
        self.looks = 0

    def look(self) -> Feed:
        self.looks += 1
        self.now += self.look_takes
        found = self.present.pop(0) if len(self.present) > 1 else self.present[0]
        if isinstance(found, Exception):
            raise found
        return found

    def touched(self, paths: Collection[Path]) -> None:
        self.touches.append(set(paths))

    def directories(self) -> set[Path]:
        return self.wanted

    def living(self) -> set[int]:
        return self.pids

    def fileno(self) -> int:
        return -1

    def follow(self, directories: Collection[Path]) -> set[Path]:
        new = set(directories) - self.followed
        self.followed |= new
        return new

    def hints(self) -> Hints:
        found, self.waiting = self.waiting, Hints()
        return found

    def close(self) -> None: ...

    def pass_time(self, seconds: float = 0.05) -> None:
        self.now += seconds


@pytest.fixture
def world() -> _World:
    return _World()


@pytest.fixture
def lives(world: _World) -> LiveFeed:
    found = LiveFeed(world, world, world.ends, root=ROOT, epoch=7, monotonic=lambda: world.now)
    assert found.begin() == feed(row("1"), epoch=7)
    world.pass_time()
    assert found.step() is None
    world.touches.clear()
    world.looks = 0
    return found


def test_what_is_followed_is_looked_at_again(world: _World, lives: LiveFeed) -> None:
    world.wanted = {ROOT / "a", ROOT / "b"}
    world.waiting = Hints(frozenset({ROOT / "x"}))
    lives.step()
    assert world.looks == 0, "a hint is followed by others"
    world.pass_time()
    lives.step()
    assert world.touches == [{ROOT / "x"}, {ROOT / "b"}]
    assert world.looks == 2
    assert world.followed == {ROOT, ROOT / "a", ROOT / "b"}


def test_changes_are_counted(world: _World, lives: LiveFeed) -> None:
    seen = lives.feed
    for number, rows in enumerate([(row("1"), row("2")), (row("2"),), (row("2", name="n"),)], 1):
        world.present = [feed(*rows)]
        world.waiting = Hints(frozenset({ROOT / "x"}))
        lives.step()
        world.pass_time()
        change = lives.step()
        assert isinstance(change, Change)
        assert (change.epoch, change.seq) == (7, number)
        seen = changed(seen, change)
        assert seen == lives.feed == feed(*rows, epoch=7, seq=number)
    world.waiting = Hints(frozenset({ROOT / "x"}))
    lives.step()
    world.pass_time()
    assert lives.step() is None, "nothing is different"
    assert lives.feed.seq == 3


def test_lost_hints_and_ends_mean_everything(world: _World, lives: LiveFeed) -> None:
    world.waiting = Hints(everything=True)
    lives.step()
    world.ends.gone = {17}
    lives.step()
    world.pass_time()
    lives.step()
    assert world.touches == [set(), set()]
    assert world.looks == 1


def test_a_long_look_is_followed_by_a_rest(world: _World, lives: LiveFeed) -> None:
    world.look_takes = 2.0
    for expected in (1, 1, 2):
        world.waiting = Hints(frozenset({ROOT / "x"}))
        lives.step()
        world.pass_time(0.05 if expected == 1 else lives.due() - world.now)
        lives.step()
        assert world.looks == expected
    assert lives.due() > world.now


def test_what_prints_is_looked_at_while_somebody_watches(world: _World, lives: LiveFeed) -> None:
    def looks_in(seconds: int) -> int:
        world.looks = 0
        for _ in range(seconds * 10):
            world.pass_time(0.1)
            lives.step()
        return world.looks

    assert looks_in(10) == 0
    world.present = [feed(row("1", run="r1"))]
    world.waiting = Hints(frozenset({ROOT / "x"}))
    lives.step()
    looks_in(1)
    assert 9 <= looks_in(10) <= 10
    lives.is_watched = False
    assert looks_in(10) == 0
    assert world.touches == [{ROOT / "x"}], "the clock touches nothing"
    lives.is_watched = True
    chat = row("1/c1", run="r1")._replace(kind=RowKind.CHAT, parent="1")
    world.present = [feed(row("1", run="r1"), chat)]
    looks_in(2)
    assert looks_in(10) == 0, "its host says what a conversation does"
    world.present = [feed(row("1", run="r2"), chat)]
    world.waiting = Hints(frozenset({ROOT / "x"}))
    lives.step()
    looks_in(1)
    assert looks_in(10) >= 9, "another run of its task prints"


def test_in_the_end_everything_is_looked_at(world: _World, lives: LiveFeed) -> None:
    world.pass_time(live.NET_S)
    assert lives.due() <= world.now
    lives.step()
    world.pass_time()
    lives.step()
    assert world.touches == [set()]
    assert world.looks == 1


def test_a_look_that_fails_is_told_and_tried_again(world: _World, lives: LiveFeed) -> None:
    world.present = [SidingError("the disk is broken"), feed(row("1"))]
    world.waiting = Hints(frozenset({ROOT / "x"}))
    lives.step()
    world.pass_time()
    change = lives.step()
    assert change is not None
    assert change.problems == ("the projects cannot be read: the disk is broken",)
    assert lives.feed.rows == (row("1"),), "what was known stays"
    world.pass_time(live.RETRY_S)
    change = lives.step()
    assert change is not None
    assert change.problems == ()


def test_a_slow_watch_is_told(world: _World, lives: LiveFeed) -> None:
    world.slow = "no descriptors are left"
    world.waiting = Hints(frozenset({ROOT / "x"}))
    lives.step()
    world.pass_time()
    change = lives.step()
    assert change is not None
    assert change.problems is not None
    assert change.problems[0].startswith("slow watch: no descriptors are left")
