"""Append to a transcript by the rules of every journal, many lines in one flush.

An open `Appender` keeps the journal's lock (``<transcript>.lock``) and its descriptor, so that an
append costs one write and one flush. On an error the file is truncated to its old length: no line
of the batch is in it.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from siding.ground.files.durable import flush, flush_dir, make_dirs, write_all
from siding.ground.files.regular import open_with_stat
from siding.ground.storage.errors import NotStorable
from siding.ground.storage.journals import LOCK_TIMEOUT_S
from siding.ground.storage.lines import MAX_LINE_BYTES
from siding.ground.storage.locks import FileLock, Holder


def lock_of(path: Path) -> Path:
    """Return the lock file of a transcript."""
    return path.with_name(path.name + ".lock")


class Appender:
    """Holds a transcript's lock and appends lines to it. A missing directory is created."""

    def __init__(
        self, path: Path, *, timeout_s: float | None = 0, holder: Holder | None = None
    ) -> None:
        """Take the lock. Raises `LockBusy` if another process still has it after `timeout_s`."""
        self.path = path
        if not path.parent.is_dir():
            make_dirs(path.parent)
        self._fd = -1
        self._closed = False
        self._end = -1  # where the file ended after our last append; -1: not known
        self._lock = FileLock(lock_of(path)).acquire(timeout_s=timeout_s, holder=holder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release the lock."""
        self._closed = True
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._lock.release()

    def append(self, lines: Sequence[bytes]) -> None:
        """Append the lines, given without newlines. Without lines, only end an unfinished last one.

        When this returns, the lines would survive a power cut. If a killed writer left the last
        line without a newline, that line is ended first. It stays in the file, and readers report
        it unless it is a whole record. Raises OSError, `NotARegularFile` or `NotStorable`; the file
        is then as it was.
        """
        assert not self._closed, "the appender is closed"
        for line in lines:
            if len(line) > MAX_LINE_BYTES:
                raise NotStorable(f"an entry of {len(line)} bytes is over {MAX_LINE_BYTES}")
        size = self._open_file()
        # When the file ends where our last append ended, its last byte is our newline: no read.
        torn = size not in (0, self._end) and os.pread(self._fd, 1, size - 1) != b"\n"
        data = b"".join((b"\n" if torn else b"", *(b"%b\n" % line for line in lines)))
        if not data:
            return
        self._end = -1
        try:
            write_all(self._fd, data)
            flush(self._fd)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(self._fd, size)
            raise
        self._end = size + len(data)

    def _open_file(self) -> int:
        """Open the file unless it is open already; return its size in bytes."""
        if self._fd >= 0:
            return os.fstat(self._fd).st_size
        fd, status = open_with_stat(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            if status.st_size == 0:
                # Make the name durable before the first line. Also for a file that is there: its
                # maker may have been killed before it flushed the directory.
                flush_dir(self.path.parent)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        return status.st_size


def append_lines(path: Path, lines: Sequence[bytes]) -> None:
    """Take the lock, append the lines and release it; see `Appender.append`."""
    with Appender(path, timeout_s=LOCK_TIMEOUT_S) as appender:
        appender.append(lines)
