"""A viewer's side of the feed: it comes from the hub of the home, which the first viewer begins.

Where there can be no hub, in a sandbox or a home that is read-only, a viewer folds by itself. It
does so too for a while when hubs do not begin, or die as soon as they began.
"""

import os
import select
import threading
import time
from _socket import socket
from collections.abc import Collection, Generator, Iterator
from contextlib import suppress

from siding import __version__
from siding.asking.screens import OpenScreen
from siding.feed.fold import feed_of
from siding.feed.hub_lines import (
    LONGEST_TOLD,
    PROTOCOL,
    BadLine,
    Cut,
    HubPlace,
    item_in,
    line_of,
)
from siding.feed.hub_process import IS_ANOTHER, begin_hub, live_feed
from siding.feed.model import Change, Feed
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.apart import Apart
from siding.ground.process.control.frames import connect_to
from siding.ground.storage.locks import FileLock
from siding.record.place.wiring import App, home_is_hidden, is_in_step

PATIENCE_S = 3.0  # for a hub that begins, and for its first line; then the viewer folds by itself
SILENT_S = 15.0  # of a hub; then it is asked whether it is still there
ALONE_S = 60.0  # for so long, before it begins a hub again
JOINS_EVERY_S = 5.0  # meanwhile it looks whether another viewer has begun one
HOLDS_BACK_S = 1.0  # when a hub said that a newer version takes over
_SHORT_LIFE_S = 2.0  # a hub that lived no longer counts as one that failed
_MOST_FAILURES = 3
_TRY_S = 0.01
_READ = 256 << 10


class Cursor(NamedTuple):
    """How far somebody knows the feed: within an epoch each change has the next number."""

    epoch: int
    seq: int


class _Closed(Exception):
    """`close` was called."""


class _HubGone(Exception):
    """The hub closed the connection, or says what we do not understand."""


class Viewer:
    """One viewer of the feed. `items` is used by one thread; the other methods by any.

    With `since`, what comes first are the changes after that cursor if the hub still knows them,
    then a change without content, whose cursor says how far that is. With `begins` False no hub is
    begun.
    """

    def __init__(self, app: App, *, since: Cursor | None = None, begins: bool = True) -> None:
        self._app = app
        self._since = since
        self._begins = begins and not is_in_step(app)
        self._place = HubPlace.of(app.home)
        self._lock = threading.Lock()
        self._shows: bytes | None = None  # the newest line about what is on the screen
        self._is_unsaid = False  # the hub does not know that line
        self._looks: bool | None = None
        self._screen: OpenScreen | None = None
        self._is_closed = False
        self._is_read = False  # `items` was called
        self._wakes, self._woken = os.pipe()
        for fd in (self._wakes, self._woken):
            os.set_blocking(fd, False)
        self._begun: Apart | None = None  # ends when the hub listens
        self._failures = 0
        self._is_served = False  # the last hub told us something
        self._held_until = 0.0  # before that we begin no hub
        self._avoided_until = 0.0  # and before that we go to none

    def items(self) -> Generator[Feed | Change]:
        """Yield a feed, then its changes; a feed again whenever the count broke. Blocks.

        Ends after `close`. Raises HomeHidden in a sandbox that hides the projects.
        """
        with self._lock:
            if self._is_closed:
                return
            self._is_read = True
        try:
            while True:
                hub = None if home_is_hidden(self._app) else self._reach_hub()
                self._reap()
                if hub is None:
                    yield from self._alone()
                else:
                    yield from self._of_hub(hub)
        except _Closed:
            return
        finally:
            self._leave()

    def show(self, addresses: Collection[str], *, focused: bool | None) -> None:
        """Say what is on this screen, and whether a person looks at it; None if nobody can tell.

        Unknown counts as away for notices.
        """
        with self._lock:
            if self._is_closed:
                return
            if self._screen is None:
                self._screen = OpenScreen(self._app.home)
                self._screen.__enter__()
            self._screen.has_eyes(focused)
            self._shows = line_of({"show": list(addresses), "focused": focused})
            self._looks, self._is_unsaid = focused, True
            self._wake()  # `items` says it: whoever draws a screen waits for no hub

    def close(self) -> None:
        """End `items`, from any thread."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            self._wake()
            if not self._is_read:
                self._free()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # it is to wake up already
            os.write(self._woken, b"x")

    def _free(self) -> None:
        if self._screen is not None:
            self._screen.__exit__()
        os.close(self._wakes)
        os.close(self._woken)

    # -- from the hub ------------------------------------------------------------------------------

    def _reach_hub(self) -> socket | None:
        """Return a connection with the hub, begun by us if need be; None to fold by oneself."""
        if time.monotonic() < self._avoided_until:
            return None
        if self._failures >= _MOST_FAILURES:
            self._failures = 0
            self._held_until = time.monotonic() + ALONE_S
            if not self._is_served:  # it lives, and sends us away: we are in a sandbox, say
                self._avoided_until = self._held_until
                return None
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            with suppress(OSError):
                return connect_to(self._place.socket)
            if not self._begins or time.monotonic() < self._held_until - HOLDS_BACK_S:
                return None
            status = None if self._begun is None else self._begun.status()
            if status not in (None, 0, IS_ANOTHER):
                return None  # it could not begin
            if status is not None:
                self._begun = None
            if self._begun is None and self._may_begin():
                try:
                    self._begun = begin_hub(self._app)
                except OSError:
                    return None
            self._wait([], time.monotonic() + _TRY_S)
        return None

    def _may_begin(self) -> bool:
        """Tell whether there is no hub: one that holds the lock begins to listen, or ends."""
        if time.monotonic() < self._held_until:
            return False
        return not self._is_there()

    def _is_there(self) -> bool:
        """Tell whether some process holds the lock of the hub."""
        try:
            return FileLock(self._place.lock).is_locked()
        except (SidingError, OSError):
            return False

    def _of_hub(self, hub: socket) -> Iterator[Feed | Change]:
        begun, self._is_served = time.monotonic(), False
        try:
            hello: dict[str, object] = {"hello": PROTOCOL, "version": __version__}
            if self._since is not None:
                hello["since"] = self._since._asdict()
            hub.sendall(line_of(hello))
            self._is_unsaid = self._shows is not None
            yield from self._told(hub)
        except (_HubGone, BadLine, OSError):
            is_short = time.monotonic() < begun + _SHORT_LIFE_S
            self._failures = self._failures + 1 if is_short else 0
        finally:
            hub.close()

    def _told(self, hub: socket) -> Iterator[Feed | Change]:
        """Yield what the hub tells; ask whether it is still there when it is silent for long."""
        cut, is_begun, is_asked = Cut(LONGEST_TOLD), False, False
        while True:
            until = time.monotonic() + (SILENT_S if is_begun else PATIENCE_S)
            while not (ready := self._wait([hub.fileno()], until)) and time.monotonic() < until:
                self._say_what_shows(hub)
            self._say_what_shows(hub)
            if ready:
                data = hub.recv(_READ)
                if not data:
                    raise _HubGone
                is_asked = False
                for line in cut.feed(data):
                    item = self._understood(line)
                    if item is not None:
                        is_begun, self._since, self._is_served = True, None, True
                        yield item
            elif is_asked:
                # It is stopped, or hangs: we do without it.
                self._avoided_until = time.monotonic() + ALONE_S
                raise _HubGone
            else:
                if not is_begun:
                    yield from self._once_by_itself()
                    is_begun = True
                hub.sendall(line_of({"ping": 1}))
                is_asked = True

    def _say_what_shows(self, hub: socket) -> None:
        with self._lock:
            line = self._shows if self._is_unsaid else None
            self._is_unsaid = False
        if line is not None:
            hub.sendall(line)

    def _understood(self, line: dict[str, object]) -> Feed | Change | None:
        if line.get("hub", PROTOCOL) != PROTOCOL:
            self._avoided_until = time.monotonic() + ALONE_S
            raise _HubGone
        if "bye" in line:
            self._held_until = time.monotonic() + HOLDS_BACK_S
            self._failures -= 1  # it ends because it is to
            raise _HubGone
        return item_in(line)

    # -- alone -------------------------------------------------------------------------------------

    def _once_by_itself(self) -> Iterator[Feed]:
        """Yield what there is, while a hub takes its time with a first look at a large home."""
        live = live_feed(self._app)
        try:
            yield live.begin()._replace(epoch=0)
        finally:
            live.close()

    def _alone(self) -> Iterator[Feed | Change]:
        """Yield what we fold, until there is a hub again or we may begin one."""
        live = live_feed(self._app)
        until = max(self._avoided_until, self._held_until)
        until = until if until > time.monotonic() else time.monotonic() + ALONE_S
        try:
            yield live.begin()
            looked_at = time.monotonic()
            while (now := time.monotonic()) < until or home_is_hidden(self._app):
                if now >= looked_at + JOINS_EVERY_S:
                    looked_at = now
                    is_ours = now >= self._avoided_until and not home_is_hidden(self._app)
                    if is_ours and self._is_there():
                        return
                self._wait(live.filenos(), min(live.due(), until, looked_at + JOINS_EVERY_S))
                live.is_watched = self._looks is not False
                change = live.step()
                if change is not None:
                    yield change
        finally:
            live.close()

    # -- waiting -----------------------------------------------------------------------------------

    def _wait(self, filenos: list[int], until: float | None) -> list[int]:
        """Wait for one of the descriptors, at most until then. Raises _Closed."""
        poller = select.poll()
        for fd in (self._wakes, *filenos):
            poller.register(fd, select.POLLIN)
        wait_ms = None if until is None else max(0.0, until - time.monotonic()) * 1000
        ready = [fd for fd, _event in poller.poll(None if wait_ms is None else wait_ms + 1)]
        if self._wakes in ready:
            os.read(self._wakes, _READ)
            if self._is_closed:
                raise _Closed
            ready.remove(self._wakes)
        return ready

    def _reap(self) -> None:
        """Wait for what we began a hub with: it is no process of ours that goes on."""
        if self._begun is not None:
            self._begun.await_end(PATIENCE_S)
            self._begun = None

    def _leave(self) -> None:
        self._reap()
        with self._lock:
            self._is_closed = True
            self._free()


def feed_now(app: App) -> Feed:
    """Return the feed once: that of the hub, with its cursor, if there is one; else a look."""
    if not home_is_hidden(app) and FileLock(HubPlace.of(app.home).lock).is_locked():
        items = Viewer(app, begins=False).items()
        try:
            return next(each for each in items if isinstance(each, Feed))
        finally:
            items.close()
    return feed_of(app)
