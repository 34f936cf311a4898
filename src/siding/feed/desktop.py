"""The notifications on the desktop, which go when what they tell of no longer waits."""

import threading
from collections.abc import Iterable

from siding.asking.told import Told


class Desktop:
    """Takes notifications off the desktop, in a thread: the desktop may not answer for seconds."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._lock = threading.Lock()
        self._gone: list[str] = []
        self._thread: threading.Thread | None = None

    def take_off(self, gone: Iterable[str]) -> None:
        """Take off what these ids tell of. It costs a look at a file for each, and never waits.

        What else waits is left alone: the feed may not have seen it yet.
        """
        told = [each for each in gone if self._told.is_known(each)]  # nearly nothing was ever told
        if not told:
            return
        with self._lock:
            self._gone += told
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Wait until all is taken off, at most so long."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)

    def _work(self) -> None:
        while True:
            with self._lock:
                gone, self._gone = self._gone, []
                if not gone:
                    self._thread = None
                    return
            for each in gone:
                self._told.clear(each)
