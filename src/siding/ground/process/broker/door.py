"""The host's side of the broker's socket: it listens, and starts a broker when somebody comes.

Most runs ask nothing, so the host has nothing but the socket. The broker is a process of its own
that takes the socket over, serves everybody who comes, and ends when nobody has come for a while.
Whatever it does, the command's output never waits for it; if it dies, the next who comes gets
another one.
"""

import os
import select
import time
from _socket import AF_UNIX, SOCK_STREAM, socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from siding.ground.process.capture import CannotStart, Running
from siding.ground.process.descriptors import pipe_above_standard

_WAITING = 128  # connections that the kernel keeps for the broker
_FIRST_PAUSE_S = 0.2  # before a broker is started again that ended at once
_LONGEST_PAUSE_S = 30.0
_GOODBYE_S = 2.0
_LOOK_S = 0.5  # between looks whether the broker still lives, where no pidfd tells us

Starter = Callable[[int, int], Running]


class Door:
    """The socket at `path`. `start` starts a broker, with the listening descriptor and one whose
    end tells it that the run is over. Both stay open in it.

    Raises OSError if there can be no such socket.
    """

    def __init__(self, path: Path, start: Starter) -> None:
        self._path = path
        self._start = start
        self._listener = socket(AF_UNIX, SOCK_STREAM)
        try:
            self._listener.bind(str(path))
            path.chmod(0o600)
            self._listener.listen(_WAITING)
            self._listener.setblocking(False)
        except BaseException:
            self._listener.close()
            raise
        self._broker: Running | None = None
        self._pidfd = -1
        self._lifeline = -1
        self._started_at = 0.0
        self._pause_s = _FIRST_PAUSE_S
        self._not_before = 0.0

    @property
    def due(self) -> float | None:
        """When `wanted` wants to be called, whatever happens; None: no need."""
        if self._broker is not None:
            return None if self._pidfd >= 0 else time.monotonic() + _LOOK_S
        return self._not_before or None

    def wanted(self) -> list[tuple[int, int, Callable[[], object]]]:
        """Return the descriptors to wait for, for what, and what to call then."""
        self._look()
        if self._broker is not None:
            return [] if self._pidfd < 0 else [(self._pidfd, select.POLLIN, self._look)]
        if time.monotonic() < self._not_before:
            return []
        self._not_before = 0.0
        return [(self._listener.fileno(), select.POLLIN, self._open)]

    def close(self) -> None:
        """Let nobody in any more, and end the broker: the run is over."""
        self._listener.close()
        with suppress(OSError):
            self._path.unlink()
        if self._broker is None:
            return
        self._hang_up()
        end = time.monotonic() + _GOODBYE_S
        while not self._broker.has_ended() and time.monotonic() < end:
            time.sleep(0.002)
        self._broker.end()
        self._broker = None
        self._close_pidfd()

    def _open(self) -> None:
        """Start a broker for who is at the door."""
        reading, writing = pipe_above_standard()
        try:
            self._broker = self._start(self._listener.fileno(), reading)
        except (OSError, CannotStart):
            os.close(writing)
            self._wait_longer()
            return
        finally:
            os.close(reading)
        self._lifeline, self._started_at = writing, time.monotonic()
        with suppress(AttributeError, OSError):  # only Linux has it
            self._pidfd = os.pidfd_open(self._broker.pid)

    def _look(self) -> None:
        """Take note if the broker has ended. One that ends at once is not started in a hurry."""
        if self._broker is None or not self._broker.has_ended():
            return
        self._hang_up()
        self._broker.end()
        self._broker = None
        self._close_pidfd()
        if time.monotonic() - self._started_at < _LONGEST_PAUSE_S:
            self._wait_longer()
        else:
            self._pause_s = _FIRST_PAUSE_S

    def _wait_longer(self) -> None:
        self._not_before = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, _LONGEST_PAUSE_S)

    def _close_pidfd(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1

    def _hang_up(self) -> None:
        if self._lifeline >= 0:
            with suppress(OSError):
                os.close(self._lifeline)
            self._lifeline = -1
