"""Append to a transcript by the rules of every journal, many lines in one flush.

An open `Appender` keeps the journal's lock (``<transcript>.lock``) and its descriptor, so that an
append costs one write and one flush. On an error the file is truncated to its old length: no line
of the batch is in it.

A `WriteQueue` writes lines in the background, in order, without dropping any. One thread appends
all waiting lines of a file in one flush. When the queue is full, `add` blocks. If writing fails,
the lines stay in the queue, and the next `flush`, or an `add` to the full queue, raises the error;
each `flush` tries to write again.
"""

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import Self

from siding.ground.files.durable import flush, flush_dir, make_dirs, write_all
from siding.ground.files.regular import open_with_stat
from siding.ground.storage.errors import NotStorable
from siding.ground.storage.journals import LOCK_TIMEOUT_S
from siding.ground.storage.lines import MAX_LINE_BYTES
from siding.ground.storage.locks import FileLock, Holder

Append = Callable[[Path, Sequence[bytes]], None]


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


# -- In the background -----------------------------------------------------------------------------

MAX_WAITING_LINES = 1000
MAX_WAITING_BYTES = 16 * 1024 * 1024


class WriteQueue:
    """A queue of lines for any number of files. It has one thread, which `close` ends."""

    def __init__(self, append: Append, *, max_lines: int = MAX_WAITING_LINES) -> None:
        self._append = append
        self._max_lines = max_lines
        self._waiting: deque[tuple[Path, bytes]] = deque()
        self._bytes = 0
        self._in_hand = False
        self._error: BaseException | None = None
        self._closed = False
        self._changed = Condition()
        self._thread = Thread(target=self._work, name="transcript writer", daemon=True)
        self._thread.start()

    def add(self, path: Path, lines: Sequence[bytes]) -> None:
        """Queue the lines. Block while the queue is full; raise the error that stopped writing."""
        with self._changed:
            assert not self._closed, "the queue is closed"
            for line in lines:
                while self._is_full() and self._error is None:
                    self._changed.wait()
                if self._error is not None and self._is_full():
                    raise self._error
                self._waiting.append((path, line))
                self._bytes += len(line)
                self._changed.notify_all()

    def flush(self) -> None:
        """Return when all lines are stored; raise the error that keeps them from being stored."""
        with self._changed:
            self._error = None
            self._changed.notify_all()
            while (self._waiting or self._in_hand) and self._error is None:
                self._changed.wait()
            if self._error is not None:
                raise self._error

    def close(self) -> None:
        """Flush and end the thread. If flushing fails, raise its error; the queue stays open."""
        if self._closed:
            return
        self.flush()
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def abandon(self) -> None:
        """End the thread and drop the lines that wait. Call it after `close` raised their error."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _is_full(self) -> bool:
        return len(self._waiting) >= self._max_lines or self._bytes >= MAX_WAITING_BYTES

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (not self._waiting or self._error is not None):
                    self._changed.wait()
                if self._closed:
                    return
                path = self._waiting[0][0]
                batch: list[bytes] = []
                for where, line in self._waiting:
                    if where != path:
                        break
                    batch.append(line)
                self._in_hand = True  # `flush` must not return while these are being written
            error: BaseException | None = None
            try:
                self._append(path, batch)
            except BaseException as failure:  # noqa: BLE001 - `flush` and `add` raise it
                error = failure
            with self._changed:
                self._in_hand = False
                self._error = error
                if error is None:
                    for line in batch:
                        self._waiting.popleft()
                        self._bytes -= len(line)
                self._changed.notify_all()
