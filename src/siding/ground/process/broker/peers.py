"""Tell who is at the other end of the broker's socket, whether it is of the run; read its lines.

The kernel knows the process that connected. It is of the run if it is the command or a descendant
of the command's keeper, by whatever number it knows itself in a sandbox. A socket that is handed on
keeps the identity of the one that connected. It may send anything, so its lines are bounded in
length and in time.
"""

import os
import select
import struct
import sys
import time
from _socket import SOL_SOCKET, socket
from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import ProcessStatus

_SO_PEERPIDFD = 77  # Linux 6.5; `socket` has no name for it
_SOL_LOCAL, _LOCAL_PEERPID = 0, 2  # macOS
_MOST_ANCESTORS = 1000
Reader = Callable[[int], ProcessStatus | None]
_READ = 64 << 10


if sys.platform == "linux":
    from _socket import SO_PEERCRED

    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes


class Top(NamedTuple):
    """A process below which everything is of the run."""

    pid: int
    started: int


def is_of(connection: socket, tops: tuple[Top, ...], *, not_below: int) -> bool:
    """Tell whether who connected is one of `tops` or below one, of this user, and still lives.

    What is below the process `not_below`, the broker itself, is not of the run.
    """
    pid = _peer(connection)
    if pid <= 0:  # of a PID namespace that is not below ours
        return False
    held = _held(connection)  # while it is open the number is nobody else's
    try:
        found = is_below(pid, tops, not_below=not_below)
        return found and (held < 0 or not _has_ended(held))
    finally:
        if held >= 0:
            os.close(held)


def is_below(
    pid: int, tops: tuple[Top, ...], *, not_below: int, read: Reader = processes.read_status
) -> bool:
    """Tell whether a process is one of `tops`, or a descendant of one."""
    for _ in range(_MOST_ANCESTORS):
        status = read(pid)
        if status is None or pid == not_below:
            return False
        if Top(status.pid, status.started) in tops:
            return True
        pid = status.parent
    return False


def _peer(connection: socket) -> int:
    """Return the process that connected; 0 if it is another user's, or cannot be told."""
    try:
        return _credentials(connection)
    except OSError:
        return 0


if sys.platform == "linux":

    def _credentials(connection: socket) -> int:
        found = connection.getsockopt(SOL_SOCKET, SO_PEERCRED, struct.calcsize("3i"))
        pid, uid, _gid = struct.unpack("3i", found)
        return int(pid) if uid == os.geteuid() else 0

else:

    def _credentials(connection: socket) -> int:
        return connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)  # the directory keeps others out


def _held(connection: socket) -> int:
    """Return a descriptor of the process that connected; -1 if the system has none."""
    if sys.platform != "linux":
        return -1
    try:
        return connection.getsockopt(SOL_SOCKET, _SO_PEERPIDFD)
    except OSError:
        return -1


def _has_ended(pidfd: int) -> bool:
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(0))


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
