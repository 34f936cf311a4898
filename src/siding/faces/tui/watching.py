"""The thread that waits for the feed, and gives what came to the screen in portions.

Reading blocks, so it has a thread. What came while the screen was busy is given at once, and never
more often than the screen can show it.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Collection, Iterator
from typing import Protocol

from siding.feed.model import Change, Feed, changed
from siding.ground.errors import SidingError

_EVERY_S = 0.05  # at most 20 times a second
_CLOSES_WITHIN_S = 2.0


class Source(Protocol):
    """Where the feed comes from: `siding.feed.client.Viewer`."""

    def items(self) -> Iterator[Feed | Change]:
        """Yield a feed, then changes; a feed again whenever the count broke. Blocks."""

    def show(self, addresses: Collection[str], *, focused: bool | None) -> None:
        """Say what is on the screen, and whether a person looks at it."""

    def close(self) -> None:
        """End `items`, from another thread."""


class Watching:
    """Reads a source in a thread, and calls `took` in the loop with the feed as it is by then."""

    def __init__(
        self,
        source: Source,
        took: Callable[[Feed], None],
        failed: Callable[[str], None],
    ) -> None:
        self._source = source
        self._took = took
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._lock = threading.Lock()
        self._feed: Feed | None = None  # as of the newest item
        self._is_due = False
        self._pause_s = 0.0  # the first feed is shown at once
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="siding-feed", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def show(self, addresses: Collection[str], focused: bool | None) -> None:
        """Say what is on the screen, and whether a person looks at it."""
        self._source.show(addresses, focused=focused)

    def close(self) -> None:
        """End the thread."""
        self._is_closed = True
        self._source.close()
        if self._thread.is_alive():
            self._thread.join(_CLOSES_WITHIN_S)

    def _run(self) -> None:
        try:
            for item in self._source.items():
                if self._is_closed:
                    return
                self._take(item)
        except (SidingError, OSError) as error:
            told = error.message if isinstance(error, SidingError) else str(error)
            self._call(self._failed, told)

    def _take(self, item: Feed | Change) -> None:
        with self._lock:
            if isinstance(item, Feed):
                self._feed = item
            elif self._feed is not None:
                self._feed = changed(self._feed, item)
            if self._is_due:
                return
            self._is_due = True
            pause_s, self._pause_s = self._pause_s, _EVERY_S
        self._call(self._loop.call_later, pause_s, self._give)

    def _give(self) -> None:
        with self._lock:
            self._is_due = False
            feed = self._feed
        if feed is not None and not self._is_closed:
            self._took(feed)

    def _call(self, function: Callable[..., object], *values: object) -> None:
        try:
            # Without the app's context, Textual finds no app where a timer is made.
            self._loop.call_soon_threadsafe(function, *values, context=self._context)
        except RuntimeError:
            self._is_closed = True  # the loop has ended
