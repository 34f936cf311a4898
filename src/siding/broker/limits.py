"""How much one run may ask of its broker."""

import time
from threading import Lock

from siding.ground.errors import SidingError

MOST_PEERS = 32  # connections at a time
MOST_QUESTIONS = 16  # that wait for a person at a time
MOST_RECORDED = 8 << 20  # bytes of requests in the record of a run
A_SECOND = 100.0  # requests, in the long run
AT_ONCE = 200.0


class TooMuch(SidingError):
    """The run has asked for more than a run may."""

    code = "too_much"


class Pace:
    """Counts requests; refuses those that come faster than a run may ask."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._left = AT_ONCE
        self._at = time.monotonic()

    def count(self) -> None:
        """Take note of a request. Raises TooMuch if there were too many lately."""
        with self._lock:
            now = time.monotonic()
            self._left = min(AT_ONCE, self._left + (now - self._at) * A_SECOND)
            self._at = now
            if self._left < 1:
                raise TooMuch(
                    f"this run asks more than {A_SECOND:g} times a second",
                    hint="wait a moment; nothing was done",
                )
            self._left -= 1
