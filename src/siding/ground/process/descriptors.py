"""File descriptors that a child gets, or must not get."""

import fcntl
import os
from collections.abc import Iterable

LAST_STANDARD = 2
# A child closes the descriptors below this one, which a shell may have left open for us. Ours are
# close-on-exec (PEP 446), so that a higher limit would only cost time.
_MOST_DESCRIPTORS = 4096


def above_standard(fd: int) -> int:
    """Return the descriptor, moved if it is 0, 1 or 2: one of ours was closed, and a child will
    put its own stream there."""
    if fd > LAST_STANDARD:
        return fd
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, LAST_STANDARD + 1)
    os.close(fd)
    return moved


def pipe_above_standard() -> tuple[int, int]:
    """Return a pipe whose descriptors are above 2."""
    reading, writing = os.pipe()
    return above_standard(reading), above_standard(writing)


def close_all_but(kept: Iterable[int]) -> None:
    """In a child: close all descriptors but 0 to 2 and `kept`."""
    below = LAST_STANDARD
    for fd in sorted(fd for fd in kept if fd > LAST_STANDARD):
        os.closerange(below + 1, fd)
        below = fd
    os.closerange(below + 1, _MOST_DESCRIPTORS)
