"""Locks: `flock` on a separate file, held as long as its descriptor is open.

The kernel frees the lock when the last copy of the descriptor is closed. So a dead holder blocks
nobody, and a child that was given the descriptor keeps the lock if we die first. A lock is never
stolen, not even from a frozen holder, and its file is never deleted.

The file's content is a note for people: who holds the lock, since when, and for what. It counts
only while the file is locked.

Packages below `app` use no clock, with this exception: waiting takes `sleep` and `monotonic`, with
the real ones as defaults.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.errors import StorageError

_FIRST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.025
# `is_locked` takes a shared lock for some microseconds. So `acquire` always tries for this long,
# even with a timeout of 0; without that, such a look could make it fail.
_GRACE_S = 0.01
_NOTE_LIMIT = 4096


class Holder(NamedTuple):
    """The holder of a lock: its process number, the ISO time since when, and what it is doing."""

    pid: int
    since: str
    what: str


class LockBusy(StorageError):
    """Another process holds the lock. `holder` is None when it left no note."""

    code = "lock_busy"

    def __init__(self, path: Path, holder: Holder | None) -> None:
        who = (
            f"process {holder.pid} since {holder.since} ({holder.what})"
            if holder
            else "another process"
        )
        super().__init__(
            f"{str(path)!r} is held by {who}",
            hint="wait until it is done, or end that process; the lock frees itself",
        )
        self.path = path
        self.holder = holder


class FileLock:
    """One lock. Two objects exclude each other, in one process as in two.

    An object that holds the lock must not acquire it again.
    """

    __slots__ = ("_fd", "_monotonic", "_noted", "_sleep", "path")

    def __init__(
        self,
        path: Path,
        *,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._fd: int | None = None
        self._noted = False
        self._sleep = sleep
        self._monotonic = monotonic

    def acquire(self, *, timeout_s: float | None = 0, holder: Holder | None = None) -> Self:
        """Take the lock and return self; raise `LockBusy` after `timeout_s` seconds.

        None waits for ever. Without a `holder` no note is written. The lock file's directory must
        exist.
        """
        assert self._fd is None, f"{self.path} is already held by this object"
        deadline = None if timeout_s is None else self._monotonic() + max(timeout_s, _GRACE_S)
        fd = self._locked_descriptor(deadline)
        try:
            if holder is not None:
                _write_note(fd, holder)
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd
        self._noted = holder is not None
        return self

    def release(self) -> None:
        """Release the lock, unless a running child was given the descriptor: that keeps it.

        This closes the descriptor. LOCK_UN would release the lock for the child too, because both
        descriptors share one open file description (flock(2)).
        """
        if self._fd is None:
            return
        fd, self._fd = self._fd, None
        try:
            if self._noted:
                with suppress(OSError):
                    os.ftruncate(fd, 0)
        finally:
            os.close(fd)

    @property
    def fd(self) -> int:
        """The descriptor to pass to a child that must keep the lock when it outlives us."""
        assert self._fd is not None, f"{self.path} is not held"
        return self._fd

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd is not None

    def is_locked(self) -> bool:
        """Return whether any process holds the lock now."""
        try:
            fd, _ = open_with_stat(self.path)
        except FileNotFoundError:
            return False
        try:
            return _is_locked(fd)
        finally:
            os.close(fd)

    def holder(self) -> Holder | None:
        """Return the holder; None when nobody holds the lock or the holder wrote no note."""
        try:
            fd, _ = open_with_stat(self.path)
        except FileNotFoundError:
            return None
        try:
            note = _read_note(fd)
            # A released lock has no note, so the shared lock of the look is rarely taken.
            return note if note is not None and _is_locked(fd) else None
        finally:
            os.close(fd)

    def __enter__(self) -> Self:
        return self if self.is_held else self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    def _locked_descriptor(self, deadline: float | None) -> int:
        while True:
            fd, status = open_with_stat(self.path, os.O_RDWR | os.O_CREAT)
            try:
                self._lock(fd, deadline)
                if _is_still_at(self.path, status):
                    return fd
            except BaseException:
                os.close(fd)
                raise
            # The directory was moved away while we waited, so we locked a file that is not at
            # `path` any more. Try again with the file that is there now.
            os.close(fd)

    def _lock(self, fd: int, deadline: float | None) -> None:
        if deadline is None:
            fcntl.flock(fd, fcntl.LOCK_EX)
            return
        pause = _FIRST_PAUSE_S
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                left = deadline - self._monotonic()
                if left <= 0:
                    raise LockBusy(self.path, _read_note(fd)) from None
            else:
                return
            self._sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)


def _is_still_at(path: Path, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), status)
    except FileNotFoundError:
        return False


def _is_locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False


def _write_note(fd: int, holder: Holder) -> None:
    from siding.ground.files.durable import write_all

    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    write_all(fd, json.dumps(holder._asdict()).encode() + b"\n")


def _read_note(fd: int) -> Holder | None:
    """Return the note; None when it is missing, damaged or half written."""
    try:
        note = json.loads(os.pread(fd, _NOTE_LIMIT, 0))
    except (ValueError, RecursionError):
        return None
    match note:
        case {"pid": int(pid), "since": str(since), "what": str(what)}:
            return Holder(pid=pid, since=since, what=what)
        case _:
            return None
