"""What a watch says: all ways that can be tried here are held to the same."""

import errno
import os
import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from siding.feed import best_watch, kqueue, watch
from siding.feed.best_watch import WatchOfHome, open_watch
from siding.feed.inotify import Inotify
from siding.feed.watch import Hints, Stamps, Watch

Take = Callable[[], Hints]


class _Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["inotify", "stamps"])
def tried(request: pytest.FixtureRequest) -> Iterator[tuple[Watch, Take]]:
    """A watch, and what takes its hints once they are due."""
    clock = _Clock()
    found: Watch = Inotify() if request.param == "inotify" else Stamps("it is tried", clock)

    def take() -> Hints:
        clock.now += watch.EVERY_S
        return found.hints()

    yield found, take
    found.close()


def test_what_happens_in_a_directory_is_told(tried: tuple[Watch, Take], tmp_path: Path) -> None:
    found, take = tried
    (tmp_path / "old").write_text("1")
    assert found.follow({tmp_path}) == {tmp_path}
    assert take() == Hints()
    acts: list[tuple[str, Callable[[], object]]] = [
        ("new", lambda: (tmp_path / "new").write_text("1")),
        ("old", lambda: _append(tmp_path / "old")),
        ("old", lambda: _replace(tmp_path / "old")),
        ("old", lambda: _replace(tmp_path / "old")),
        ("new", (tmp_path / "new").unlink),
        ("new", (tmp_path / "new").mkdir),
    ]
    for name, act in acts:
        act()
        assert tmp_path / name in take().paths
        assert take() == Hints()


def test_a_directory_is_followed_once_it_is_there(
    tried: tuple[Watch, Take], tmp_path: Path
) -> None:
    found, take = tried
    later, not_one = tmp_path / "later", tmp_path / "file"
    not_one.write_text("")
    wanted = {later, not_one, tmp_path}
    assert found.follow(wanted) == {tmp_path}
    later.mkdir()
    (later / "a").write_text("before it was followed: told by nobody")
    assert found.follow(wanted) == {later}
    take()
    (later / "b").write_text("1")
    assert later / "b" in take().paths
    assert found.follow(wanted) == set()


def test_a_directory_in_the_place_of_another_is_followed_anew(
    tried: tuple[Watch, Take], tmp_path: Path
) -> None:
    found, take = tried
    place, below = tmp_path / "place", tmp_path / "place" / "below"
    below.mkdir(parents=True)
    wanted = {tmp_path, place, below}
    found.follow(wanted)
    for _ in range(2):
        place.rename(tmp_path / f"moved{time.monotonic_ns()}")
        below.mkdir(parents=True)
        assert place in take().paths
        found.follow(wanted)
        take()
        (below / "a").write_text("1")
        assert below / "a" in take().paths


def test_what_is_followed_no_more_is_not_told(tried: tuple[Watch, Take], tmp_path: Path) -> None:
    found, take = tried
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.symlink_to(one)
    found.follow({one, two})
    (one / "a").write_text("1")
    assert take().paths == {one / "a", two / "a"}
    found.follow({two})
    (one / "b").write_text("1")
    assert take().paths == {two / "b"}
    found.follow(set())
    (one / "c").write_text("1")
    assert take() == Hints()


def test_too_many_events_mean_everything(tmp_path: Path) -> None:
    found = Inotify()
    found.follow({tmp_path})
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 1 << 17:
        pytest.skip("this system keeps too many events for a test")
    for _ in range(most // 2 + 1):  # two that are not alike, in turn: none is merged
        for name in ("a", "b"):
            os.close(os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT))
    assert found.hints().everything or found.hints().everything
    found.hints()
    (tmp_path / "a").write_text("1")
    assert found.hints() == Hints(frozenset({tmp_path / "a"}))
    found.close()


def test_stamps_are_read_when_nothing_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(number: int) -> Callable[..., object]:
        def fail(*_arguments: object) -> object:
            raise OSError(number, os.strerror(number))

        return fail

    assert open_watch(tmp_path).slow == ""
    with monkeypatch.context() as patch:
        patch.setattr(Inotify, "__init__", fails(errno.EMFILE))
        assert "Too many open files" in open_watch(tmp_path).slow
    with monkeypatch.context() as patch:
        patch.setattr(best_watch, "unsupported_reason", lambda _root: "nfs")
        assert "network" in open_watch(tmp_path).slow
    of_home = WatchOfHome(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Inotify, "follow", fails(errno.ENOSPC))
        assert of_home.follow({tmp_path}) == {tmp_path}
    assert "No space left" in of_home.slow
    assert of_home.due is not None
    assert of_home.fileno() == -1
    of_home.close()


def test_reading_stamps_takes_a_twentieth_of_the_time(tmp_path: Path) -> None:
    clock = _Clock()
    found = Stamps("", clock)
    clock.now += watch.EVERY_S
    reads = iter([clock.now, clock.now + 3.0])
    found._monotonic = lambda: next(reads)
    found.hints()
    assert found.due == clock.now + 3.0 + 60.0


class _Queue:
    """A kqueue in which a test puts events."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.events: list[SimpleNamespace] = []

    def control(self, changes: list[SimpleNamespace] | None, most: int, _wait: float = 0) -> object:
        self.asked += [each.ident for each in changes or ()]
        taken, self.events = self.events[:most], self.events[most:]
        return taken

    def close(self) -> None: ...


def test_kqueue_follows_directories_and_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = _Queue()
    names = "WRITE EXTEND DELETE RENAME REVOKE".split()
    system = SimpleNamespace(
        kqueue=lambda: queue,
        kevent=lambda ident, *_what: SimpleNamespace(ident=ident),
        KQ_FILTER_VNODE=0,
        KQ_EV_ADD=1,
        KQ_EV_CLEAR=2,
        **{f"KQ_NOTE_{name}": 1 << place for place, name in enumerate(names)},
    )
    monkeypatch.setattr(kqueue, "_system", system)
    (tmp_path / "task.json").write_text("{}")
    (tmp_path / "ledger.jsonl").write_text("")
    found = kqueue.Kqueue()
    assert found.follow({tmp_path, tmp_path / "later"}) == {tmp_path}
    directory, journal = queue.asked
    assert os.path.samestat(os.fstat(journal), os.stat(tmp_path / "ledger.jsonl"))
    (tmp_path / "events.jsonl").write_text("")
    queue.events = [SimpleNamespace(ident=directory, fflags=1)]
    assert found.hints().paths == {tmp_path}
    assert len(queue.asked) == 3, "a new journal is followed"
    queue.events = [SimpleNamespace(ident=journal, fflags=2)]
    assert found.hints().paths == {tmp_path / "ledger.jsonl"}
    queue.events = [SimpleNamespace(ident=directory, fflags=8)]
    found.hints()
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(journal)
    assert found.follow({tmp_path}) == {tmp_path}
    found.close()


def test_the_system_here_has_a_way() -> None:
    assert hasattr(select, "kqueue") or isinstance(open_watch(Path("/")), Inotify)


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("more")


def _replace(path: Path) -> None:
    path.with_name(".new").write_text("other")
    path.with_name(".new").rename(path)
