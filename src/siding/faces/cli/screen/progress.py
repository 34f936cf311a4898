"""A line on the terminal about work that takes a while; quick work gets none."""

import threading
from typing import TextIO

PATIENCE_S = 0.4  # work that ends sooner gets no line


class ProgressLine:
    """Shows what is being done once it has taken `PATIENCE_S`; used by one thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._drawn = False
        # Raised on every change: a timer that fires while it is being cancelled draws nothing.
        self._serial = 0

    def show(self, doing: str) -> None:
        """Announce the next piece of work; ``""`` ends the last one and clears the line."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        with self._lock:
            self._serial += 1
            if self._drawn:
                self._write("")
                self._drawn = False
        if doing:
            self._timer = threading.Timer(PATIENCE_S, self._draw, (doing, self._serial))
            self._timer.daemon = True
            self._timer.start()

    def _draw(self, doing: str, serial: int) -> None:
        with self._lock:
            if serial != self._serial:
                return
            self._write(f"siding: {doing} ...")
            self._drawn = True

    def _write(self, text: str) -> None:
        self._stream.write(f"\r\x1b[K{text}")
        self._stream.flush()
