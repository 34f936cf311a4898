"""Tell who is at the other end of the broker's socket, and whether it is of the run.

The kernel knows the process that connected. It is of the run if it is the command or a descendant
of the command's keeper, by whatever number it knows itself in a sandbox. A socket that is handed on
keeps the identity of the one that connected.
"""

import os
import select
import struct
import sys
from collections.abc import Callable
from socket import SOL_SOCKET, socket

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.status import ProcessStatus

if sys.platform == "linux":
    from socket import SO_PEERCRED

    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

_SO_PEERPIDFD = 77  # Linux 6.5; `socket` has no name for it
_SOL_LOCAL, _LOCAL_PEERPID = 0, 2  # macOS
_MOST_ANCESTORS = 1000

Reader = Callable[[int], ProcessStatus | None]


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
