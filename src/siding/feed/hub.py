"""The hub: of the viewers of a home, the one process that folds the feed for all of them.

It is the process that holds `hub.lock`; the kernel frees the lock however it ends. It ends by
itself when no viewer has been there for a while, when its home is gone, and when a viewer of a
newer version comes. It never waits for a viewer: what one does not read is kept up to a limit, then
that viewer is sent away, and takes the whole feed when it comes back.
"""

import os
import select
import time
from _socket import socket
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding import __version__
from siding.feed.hub_lines import (
    LONGEST_ASKED,
    PROTOCOL,
    BadLine,
    Cut,
    HubPlace,
    is_newer,
    line_of,
    line_of_item,
)
from siding.feed.live import LiveFeed
from siding.feed.model import Change
from siding.ground.process.control.frames import accept_from
from siding.ground.storage.fields import text, whole

LINGERS_S = 30.0  # without a viewer; then it ends
MOST_KEPT = 1 << 20  # bytes of changes that a viewer has not read, and of changes kept for returns
MOST_VIEWERS = 64
HOME_EVERY_S = 5.0  # how often it is looked whether the home is still there
_READ = 64 << 10
_PAUSE_S = 0.05
_FIRST_S = 10.0  # how long a connection may be open without a word


class Viewer:
    """A connection of a viewer, as the hub sees it."""

    def __init__(self, connection: socket, now: float) -> None:
        self.connection = connection
        self.since = now
        self.is_greeted = False
        self.looks: bool | None = None
        self._cut = Cut(LONGEST_ASKED)
        self._unsent: deque[tuple[memoryview, bool]] = deque()  # and whether it is counted
        self._kept = 0  # bytes of what is counted

    @property
    def is_behind(self) -> bool:
        return bool(self._unsent)

    def read(self) -> list[dict[str, Any]]:
        """Return what the viewer says. Raises OSError when it has gone, and BadLine."""
        try:
            data = self.connection.recv(_READ)
        except BlockingIOError:
            return []
        if not data:
            raise ConnectionResetError
        return list(self._cut.feed(data))

    def tell(self, line: bytes, *, is_whole: bool = False) -> None:
        """Send a line, or as much as goes now. Raises OSError if the viewer is gone or too slow.

        The whole feed can be larger than what is kept for a viewer, and all viewers share its
        bytes: it is not counted.
        """
        self._unsent.append((memoryview(line), not is_whole))
        self._kept += 0 if is_whole else len(line)
        self.send()
        if self._kept > MOST_KEPT:
            raise ConnectionAbortedError("the viewer is too slow")

    def send(self) -> None:
        """Send what waits, as much as goes now. Raises OSError if the viewer is gone."""
        while self._unsent:
            line, is_counted = self._unsent.popleft()
            try:
                sent = self.connection.send(line)
            except BlockingIOError:
                sent = 0
            if is_counted:
                self._kept -= sent
            if sent < len(line):
                self._unsent.appendleft((line[sent:], is_counted))
                return


class Hub:
    """Serves a live feed to the viewers that come to `listener`, until nobody needs it."""

    def __init__(
        self,
        live: LiveFeed,
        listener: socket,
        is_there: Callable[[], bool],
        *,
        take_off: Callable[[Iterable[str]], None] = lambda _gone: None,
        lingers_s: float = LINGERS_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._live = live
        self._take_off = take_off  # told the ids of what asks nobody any more; it must not wait
        self._listener = listener
        self._is_there = is_there
        self._lingers_s = lingers_s
        self._monotonic = monotonic
        self._viewers: dict[int, Viewer] = {}
        self._whole: bytes | None = None  # the line of the whole feed, until it changes
        self._changes: deque[tuple[int, bytes]] = deque()  # the newest ones, with their numbers
        self._changes_size = 0
        self._lonely_since = monotonic()
        self._is_replaced = False

    def serve(self) -> None:
        """Serve until there is nobody to serve any more."""
        self._live.begin()
        looked_at = self._monotonic()
        while True:
            ready = self._wait(looked_at + HOME_EVERY_S)
            now = self._monotonic()
            if self._listener.fileno() in ready:
                self._accept(now)
            for number in ready & self._viewers.keys():
                self._serve_one(number)
            self._live.is_watched = any(each.looks is not False for each in self._viewers.values())
            change = self._live.step()
            if change is not None:
                self._tell_all(change)
                if change.asks_gone:
                    self._take_off(change.asks_gone)
            if now >= looked_at + HOME_EVERY_S:
                looked_at = now
                if not self._is_there():
                    return
            self._send_away_silent(now)
            if self._is_replaced or self._is_lonely(now):
                return

    def close(self) -> None:
        for number in tuple(self._viewers):
            self._drop(number)
        self._live.close()

    def _wait(self, until: float) -> set[int]:
        """Wait until something is to be done; return the descriptors that are ready."""
        poller = select.poll()
        for fd in (self._listener.fileno(), *self._live.filenos()):
            poller.register(fd, select.POLLIN)
        for number, viewer in self._viewers.items():
            poller.register(number, select.POLLIN | (select.POLLOUT if viewer.is_behind else 0))
        until = min(until, self._live.due())
        if not self._viewers:
            until = min(until, self._lonely_since + self._lingers_s)
        # A millisecond more: poll counts in whole ones, and would come back just before.
        wait_ms = max(0.0, until - self._monotonic()) * 1000
        return {fd for fd, _event in poller.poll(wait_ms + 1 if wait_ms else 0)}

    def _accept(self, now: float) -> None:
        try:
            connection = accept_from(self._listener)
        except BlockingIOError:
            return
        except OSError:
            time.sleep(_PAUSE_S)  # no descriptor is left, say: whoever waits there still waits
            return
        if connection is None:
            return
        if len(self._viewers) >= MOST_VIEWERS:
            connection.close()
            return
        self._viewers[connection.fileno()] = Viewer(connection, now)

    def _serve_one(self, number: int) -> None:
        viewer = self._viewers[number]
        try:
            viewer.send()
            for said in viewer.read():
                self._answer(viewer, said)
        except (OSError, BadLine):
            self._drop(number)

    def _answer(self, viewer: Viewer, said: dict[str, Any]) -> None:
        if "hello" in said:
            self._greet(viewer, said)
        elif "show" in said:
            focused = said.get("focused")
            viewer.looks = focused if isinstance(focused, bool) else None
        elif "ping" in said:
            viewer.tell(line_of({"pong": said["ping"]}))
        # What a later version may ask besides is passed over.

    def _greet(self, viewer: Viewer, said: dict[str, Any]) -> None:
        if viewer.is_greeted:
            raise BadLine("a second greeting")
        viewer.is_greeted = True
        if is_newer(text(said.get("version")), __version__):
            self._is_replaced = True
            for each in {*self._viewers.values()} - {viewer}:  # the new one begins the next hub
                with suppress(OSError):
                    each.tell(line_of({"bye": f"{text(said.get('version'))} takes over"}))
            return
        missed = self._missed(said.get("since"))
        told = {"hub": PROTOCOL, "version": __version__, "goes_on": missed is not None}
        viewer.tell(line_of(told))
        if missed is None:
            if self._whole is None:
                self._whole = line_of_item(self._live.feed)
            viewer.tell(self._whole, is_whole=True)
        else:
            now = self._live.feed
            for line in (*missed, line_of_item(Change(now.epoch, now.seq))):
                viewer.tell(line)

    def _missed(self, since: object) -> list[bytes] | None:
        """Return the changes since a cursor; None if they are not known any more."""
        if not isinstance(since, dict) or whole(since.get("epoch")) != self._live.feed.epoch:
            return None
        seq, newest = whole(since.get("seq")), self._live.feed.seq
        oldest = self._changes[0][0] if self._changes else newest + 1
        if not oldest - 1 <= seq <= newest:
            return None
        return [line for number, line in self._changes if number > seq]

    def _tell_all(self, change: Change) -> None:
        line = line_of_item(change)
        self._whole = None
        self._changes.append((change.seq, line))
        self._changes_size += len(line)
        while self._changes_size > MOST_KEPT:
            self._changes_size -= len(self._changes.popleft()[1])
        for number, viewer in tuple(self._viewers.items()):
            if viewer.is_greeted:
                try:
                    viewer.tell(line)
                except OSError:
                    self._drop(number)

    def _send_away_silent(self, now: float) -> None:
        for number, viewer in tuple(self._viewers.items()):
            if not viewer.is_greeted and now >= viewer.since + _FIRST_S:
                self._drop(number)

    def _drop(self, number: int) -> None:
        self._viewers.pop(number).connection.close()
        if not self._viewers:
            self._lonely_since = self._monotonic()

    def _is_lonely(self, now: float) -> bool:
        return not self._viewers and now >= self._lonely_since + self._lingers_s


def is_reachable(place: HubPlace, lock: int, bound: os.stat_result) -> bool:
    """Tell whether our lock and our socket are still in the home: else it is gone, or was moved."""
    try:
        return os.path.samestat(
            os.stat(place.lock, follow_symlinks=False), os.fstat(lock)
        ) and os.path.samestat(os.stat(place.socket, follow_symlinks=False), bound)
    except OSError:
        return False


def remove_socket(path: Path, listener: socket, bound: os.stat_result) -> None:
    """Close the socket, and take its name away if it is still ours."""
    with suppress(OSError):
        if os.path.samestat(os.stat(path, follow_symlinks=False), bound):
            path.unlink()
    listener.close()
