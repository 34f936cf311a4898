"""Opening and reading regular files, whatever stands in their place."""

import errno
import os
import stat
from pathlib import Path

from siding.ground.errors import FileTooLarge, NotARegularFile

DEFAULT_LIMIT = 64 * 1024 * 1024

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ALWAYS = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
# What open() says of a link (ELOOP, FreeBSD: EMLINK), a directory, a pipe or socket, a dead device.
_NOT_REGULAR = {errno.ELOOP, errno.EMLINK, errno.EISDIR, errno.ENXIO, errno.ENODEV}


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Return a descriptor of a regular file; never blocks, never follows a final link."""
    return open_with_stat(path, flags, mode)[0]


def open_with_stat(
    path: Path, flags: int = os.O_RDONLY, mode: int = 0o600, *, dir_fd: int | None = None
) -> tuple[int, os.stat_result]:
    """Return what `open_regular` does, and the file's status as it was then.

    A relative path begins at the open directory `dir_fd`.
    """
    try:
        fd = os.open(path, flags | _ALWAYS, mode, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in _NOT_REGULAR:
            raise NotARegularFile(path) from error
        raise
    try:
        status = os.fstat(fd)
    except BaseException:
        os.close(fd)
        raise
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise NotARegularFile(path)
    return fd, status


def read_bytes(path: Path, *, limit: int = DEFAULT_LIMIT) -> bytes:
    """Return the whole file, of at most `limit` bytes; a larger one raises `FileTooLarge`."""
    fd, status = open_with_stat(path)
    try:
        if status.st_size > limit:
            raise FileTooLarge(path, limit)
        # One byte more than expected, so that the end shows without a second round.
        chunks: list[bytes] = []
        size = 0
        while chunk := os.read(fd, max(status.st_size - size, 0) + 1):
            chunks.append(chunk)
            size += len(chunk)
            if size > limit:
                raise FileTooLarge(path, limit)
        return b"".join(chunks)
    finally:
        os.close(fd)


def read_small(path: Path, limit: int = 1 << 20) -> bytes | None:
    """Return the first `limit` bytes of a regular file, None when there is no such file.

    For what git or a command may have put there: it can be anything, or nothing.
    """
    try:
        fd = open_regular(path)
    except (OSError, NotARegularFile):
        return None
    try:
        return _beginning(fd, limit)
    finally:
        os.close(fd)


def read_below(directory: Path, inner: Path, limit: int) -> tuple[bytes, os.stat_result]:
    """Return the first `limit` bytes of a regular file below a directory, and its status.

    No link is followed, neither at the end of `inner` nor on the way to it: a path that was
    resolved before leads nowhere else if somebody exchanges a directory for a link meanwhile.
    Raises OSError and NotARegularFile.
    """
    *above, name = inner.parts
    held = os.open(directory, _DIRECTORY)
    try:
        for part in above:
            inside = os.open(part, _DIRECTORY, dir_fd=held)
            os.close(held)
            held = inside
        fd, status = open_with_stat(Path(name), dir_fd=held)
    finally:
        os.close(held)
    try:
        return _beginning(fd, limit), status
    finally:
        os.close(fd)


def _beginning(fd: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(fd, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)
