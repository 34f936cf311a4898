"""The feed by looking again once a second: where no hub can be reached."""

import threading
from collections.abc import Collection, Iterator

from siding.feed.fold import HomeFold
from siding.feed.model import Change, Feed
from siding.record.place.wiring import App

_EVERY_S = 1.0


class Looks:
    """Reads all projects itself."""

    def __init__(self, app: App) -> None:
        self._fold = HomeFold(app)
        self._closed = threading.Event()

    def items(self) -> Iterator[Feed | Change]:
        """Yield the feed, and again whenever it is another one."""
        before: Feed | None = None
        while not self._closed.is_set():
            self._fold.touched([])
            feed = self._fold.look()
            if feed != before:
                before = feed
                yield feed
            self._closed.wait(_EVERY_S)

    def show(self, addresses: Collection[str], *, focused: bool | None) -> None:
        """Nobody else is told."""

    def close(self) -> None:
        """End `items`."""
        self._closed.set()
