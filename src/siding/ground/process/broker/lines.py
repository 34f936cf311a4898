"""Lines from a peer that may send anything: bounded in length and in time."""

import time
from _socket import socket

_READ = 64 << 10


class LineTooLong(ValueError):
    """The peer sends a line that is longer than any request."""


class Lines:
    """The lines that a peer sends. None of them is longer than `longest` bytes."""

    def __init__(self, connection: socket, *, longest: int) -> None:
        self._connection = connection
        self._longest = longest
        self._received = bytearray()
        self._searched = 0  # bytes in which there is no newline

    def next(self, seconds: float) -> bytes | None:
        """Return the next line without its newline; None when the peer is gone.

        Raises TimeoutError if there is no whole line after `seconds`, LineTooLong, and
        ConnectionError if the peer is gone and has not read all that was sent. A line without a
        newline at the end of all is no request: it was cut off.
        """
        end = time.monotonic() + seconds
        while True:
            at = self._received.find(b"\n", self._searched)
            if at >= 0:
                line = bytes(self._received[:at])
                del self._received[: at + 1]
                self._searched = 0
                if len(line) > self._longest:
                    raise LineTooLong
                return line
            self._searched = len(self._received)
            if self._searched > self._longest:
                raise LineTooLong
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._connection.settimeout(left)
            data = self._connection.recv(_READ)
            if not data:
                return None
            self._received += data
