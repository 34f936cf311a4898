"""A hub with real sockets and files, and a fold of its own, in a thread of the test."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from siding import __version__
from siding.feed import hub as hub_module
from siding.feed.best_watch import open_watch
from siding.feed.ends import open_ends
from siding.feed.hub import Hub, is_reachable
from siding.feed.hub_lines import Cut, HubPlace, item_in, line_of
from siding.feed.live import LiveFeed
from siding.feed.model import Change, Feed, changed
from siding.ground.process.control.frames import connect_to, listen_at
from unit.feed.folds import FilesFold

LONG_S = 30.0


class _Served:
    """A hub that serves the files of a directory."""

    def __init__(self, directory: Path, lingers_s: float = LONG_S) -> None:
        self.files = directory / "files"
        self.files.mkdir()
        self.place = HubPlace(directory)
        self.fold = FilesFold(self.files)
        self.live = LiveFeed(
            self.fold, open_watch(directory), open_ends(), root=directory, epoch=time.time_ns()
        )
        self.listener = listen_at(self.place.socket)
        self.is_there = True
        self.peers: list[_Peer] = []
        self.gone: list[tuple[str, ...]] = []
        self.hub = Hub(
            self.live,
            self.listener,
            lambda: self.is_there,
            take_off=lambda gone: self.gone.append(tuple(gone)),
            lingers_s=lingers_s,
        )
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self.hub.serve()
        finally:
            self.hub.close()
            self.listener.close()

    def ended(self) -> bool:
        self._thread.join(LONG_S)
        return not self._thread.is_alive()

    def end(self) -> None:
        """Have it end as a newer version would."""
        if self._thread.is_alive():
            _Peer(self, version="999")
        assert self.ended()
        for peer in self.peers:
            peer.socket.close()


class _Peer:
    """A viewer that says what a test wants it to."""

    def __init__(
        self, served: _Served, *, version: str = __version__, since: Any = None, greets: bool = True
    ) -> None:
        self.socket = connect_to(served.place.socket)
        served.peers.append(self)
        self.socket.settimeout(LONG_S)
        self._cut = Cut(1 << 26)
        self._lines: list[dict[str, Any]] = []
        if greets:
            self.say({"hello": 1, "version": version, **({"since": since} if since else {})})

    def say(self, record: dict[str, Any]) -> None:
        self.socket.sendall(line_of(record))

    def line(self) -> dict[str, Any] | None:
        """Return the next line; None when the hub has closed the connection."""
        while not self._lines:
            try:
                data = self.socket.recv(1 << 20)
            except ConnectionError:
                return None
            if not data:
                return None
            self._lines += self._cut.feed(data)
        return self._lines.pop(0)

    def item(self) -> Feed | Change:
        while True:
            line = self.line()
            assert line is not None
            item = item_in(line)
            if item is not None:
                return item

    def until(self, feed: Feed, names: set[str]) -> Feed:
        """Take changes until the rows have these names."""
        while {row.name for row in feed.rows} != names:
            item = self.item()
            assert isinstance(item, Change)
            assert (item.epoch, item.seq) == (feed.epoch, feed.seq + 1)
            feed = changed(feed, item)
        return feed


@pytest.fixture
def served(tmp_path: Path) -> Iterator[_Served]:
    found = _Served(tmp_path)
    yield found
    found.end()


def whole(peer: _Peer) -> Feed:
    item = peer.item()
    assert isinstance(item, Feed)
    return item


def test_a_viewer_gets_everything_and_then_each_change(served: _Served) -> None:
    (served.files / "a").write_text("one")
    first, seen = _Peer(served), {}
    assert first.line() == {"hub": 1, "version": __version__, "goes_on": False}
    seen[first] = first.until(whole(first), {"one"})
    (served.files / "b").write_text("two")
    seen[first] = first.until(seen[first], {"one", "two"})
    late = _Peer(served)
    seen[late] = whole(late)
    (served.files / "new").mkdir()
    (served.files / "new" / "c").write_text("three")
    (served.files / "a").unlink()
    for peer in (first, late):
        seen[peer] = peer.until(seen[peer], {"two", "three"})
    assert seen[first]._replace(rows=()) == seen[late]._replace(rows=())
    assert {*seen[first].rows} == {*seen[late].rows} == {*served.fold.look().rows}


def test_what_asks_nobody_any_more_is_taken_off_the_desktop(served: _Served) -> None:
    peer = _Peer(served)
    (served.files / "a").write_text("ask one")
    (served.files / "b").write_text("ask two")
    feed = peer.until(whole(peer), {"ask one", "ask two"})
    assert not served.gone
    (served.files / "a").unlink()
    feed = peer.until(feed, {"ask two"})
    (served.files / "b").write_text("two")
    peer.until(feed, {"two"})
    served.end()
    assert served.gone == [("ask one",), ("ask two",)]


def test_a_cursor_goes_on_where_it_was(served: _Served) -> None:
    peer = _Peer(served)
    feed = whole(peer)
    for number in range(3):
        (served.files / str(number)).write_text(str(number))
        feed = peer.until(feed, {str(each) for each in range(number + 1)})
    for behind in range(3):
        since = {"epoch": feed.epoch, "seq": feed.seq - behind}
        again = _Peer(served, since=since)
        line = again.line()
        assert line is not None
        assert line["goes_on"] is True
        found = [again.item() for _ in range(behind + 1)]
        assert all(isinstance(each, Change) for each in found)
        assert found[-1] == Change(feed.epoch, feed.seq), "it says how far that is"
        assert [each.seq for each in found[:-1]] == list(range(feed.seq - behind + 1, feed.seq + 1))


@pytest.mark.parametrize("wrong", ["epoch", "later", "text"])
def test_a_cursor_that_is_not_known_gets_everything(served: _Served, wrong: str) -> None:
    feed = whole(_Peer(served))
    since = {
        "epoch": {"epoch": feed.epoch - 1, "seq": 0},
        "later": {"epoch": feed.epoch, "seq": feed.seq + 1},
        "text": "7",
    }[wrong]
    peer = _Peer(served, since=since)
    line = peer.line()
    assert line is not None
    assert line["goes_on"] is False
    assert whole(peer).epoch == feed.epoch


def test_changes_that_are_not_kept_any_more_break_a_cursor(
    served: _Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = _Peer(served)
    feed = whole(peer)
    begun = {"epoch": feed.epoch, "seq": feed.seq}
    monkeypatch.setattr(hub_module, "MOST_KEPT", 1000)
    for number in range(4):
        (served.files / "a").write_text(str(number) * 200)
        feed = peer.until(feed, {str(number) * 200})
    assert isinstance(_Peer(served, since=begun).item(), Feed)
    kept = _Peer(served, since={"epoch": feed.epoch, "seq": feed.seq - 1})
    assert isinstance(kept.item(), Change)


def test_a_slow_viewer_is_sent_away_and_holds_nobody_up(
    served: _Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "MOST_KEPT", 100_000)
    slow, other = _Peer(served), _Peer(served)
    feed = whole(other)
    assert slow.line() is not None
    for number in range(30):  # more than what the kernel and we keep together
        text = f"{number} " + "x" * 50_000
        (served.files / "a").write_text(text)
        feed = other.until(feed, {text})
    while slow.line() is not None:
        pass
    assert {each.name for each in whole(_Peer(served)).rows} == {text}


@pytest.mark.parametrize("bad", [b"no json\n", b"[]\n", b"x" * 300_000, b'{"hello": 1}\n' * 2])
def test_who_says_anything_else_is_sent_away(served: _Served, bad: bytes) -> None:
    peer = _Peer(served, greets=False)
    peer.socket.sendall(bad)
    while peer.line() is not None:
        pass
    assert whole(_Peer(served)).rows == ()


def test_what_a_later_version_asks_is_passed_over(served: _Served) -> None:
    peer = _Peer(served)
    peer.say({"dreams": 1})
    peer.say({"show": ["siding://p"], "focused": "perhaps"})
    peer.say({"ping": 5})
    whole(peer)
    while (line := peer.line()) is not None and "pong" not in line:
        pass
    assert line == {"pong": 5}


def test_a_newer_version_takes_over_and_the_others_are_told(served: _Served) -> None:
    old = _Peer(served, version="0.0.1")
    whole(old)
    newer = _Peer(served, version="999.0")
    assert newer.line() is None, "it begins the next one at once"
    while (line := old.line()) is not None and "bye" not in line:
        pass
    assert line == {"bye": "999.0 takes over"}
    assert served.ended()


def test_it_ends_without_viewers(tmp_path: Path) -> None:
    served = _Served(tmp_path, lingers_s=0.3)
    peer = _Peer(served)
    whole(peer)
    time.sleep(0.6)
    peer.say({"ping": 1})
    while (line := peer.line()) is not None and "pong" not in line:
        pass
    assert line is not None, "it stays while somebody is there"
    peer.socket.close()
    assert served.ended()
    served.end()


def test_it_ends_when_its_home_is_gone(
    served: _Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hub_module, "HOME_EVERY_S", 0.05)
    peer = _Peer(served)
    whole(peer)
    served.is_there = False
    assert served.ended()


def test_a_home_is_there_with_its_lock_and_its_socket(tmp_path: Path) -> None:
    place = HubPlace(tmp_path)
    place.lock.touch()
    listener = listen_at(place.socket)
    bound = place.socket.stat()
    with place.lock.open() as lock:
        assert is_reachable(place, lock.fileno(), bound)
        place.socket.rename(tmp_path / "else")
        assert not is_reachable(place, lock.fileno(), bound)
        other = listen_at(place.socket)
        assert not is_reachable(place, lock.fileno(), bound)
        other.close()
        place.socket.unlink()
        (tmp_path / "else").rename(place.socket)
        assert is_reachable(place, lock.fileno(), bound)
        place.lock.unlink()
        place.lock.touch()
        assert not is_reachable(place, lock.fileno(), bound)
    listener.close()


def test_only_this_user_reaches_it(served: _Served) -> None:
    assert os.stat(served.place.socket).st_mode & 0o777 == 0o600
