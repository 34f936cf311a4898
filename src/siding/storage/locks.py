"""Locks: `flock` on a file of its own, held by an open descriptor.

The kernel frees the lock when the last descriptor of it is closed, so a dead holder blocks nobody,
and a child that was given the descriptor keeps the lock when we die before it. A lock is never
stolen (a frozen holder still holds it) and its file never deleted.

The file's content is only a note for people: who holds it, since when, for what. Being locked is
the fact; the note counts only while it is.

The one exception to "no clock below `app`": waiting takes `sleep` and `monotonic`, with the real
ones as defaults.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from siding.files.durable import write_all
from siding.files.regular import open_with_stat
from siding.storage.errors import StorageError

_FIRST_PAUSE_S = 0.0005
_LONGEST_PAUSE_S = 0.025
# A reader that looks whether a lock is held takes it, shared, for microseconds. Even who does not
# want to wait tries for this long, so as not to be refused by a mere look.
_GRACE_S = 0.01
_NOTE_LIMIT = 4096


class Holder(NamedTuple):
    """Who holds a lock: process number, ISO time since when, and what it is doing."""

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
    """One lock. An object holds it once; two objects, in one process or two, exclude each other."""

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
        """Take the lock, or raise `LockBusy` after `timeout_s` seconds; None waits for ever.

        Without a `holder` no note is written. The lock file's directory must exist.
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
        """Let go. The lock stays with a child that was given the descriptor and still runs.

        Therefore by closing, never by LOCK_UN, which would take it from that child too.
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
        """The descriptor to pass to a child that must keep the lock if it outlives us."""
        assert self._fd is not None, f"{self.path} is not held"
        return self._fd

    @property
    def is_held(self) -> bool:
        """Whether this object holds the lock."""
        return self._fd is not None

    def is_locked(self) -> bool:
        """Return whether anyone holds the lock, now. Takes nothing away from a waiting process."""
        try:
            fd, _ = open_with_stat(self.path)
        except FileNotFoundError:
            return False
        try:
            return _is_locked(fd)
        finally:
            os.close(fd)

    def holder(self) -> Holder | None:
        """Return who holds the lock; None when nobody does, or nobody who left a note."""
        try:
            fd, _ = open_with_stat(self.path)
        except FileNotFoundError:
            return None
        try:
            note = _read_note(fd)
            # Released locks have no note, so the look itself is rarely taken.
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
            os.close(fd)  # its directory was moved away while we waited: lock what is there now

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
    os.ftruncate(fd, 0)
    os.lseek(fd, 0, os.SEEK_SET)
    write_all(fd, json.dumps(holder._asdict()).encode() + b"\n")


def _read_note(fd: int) -> Holder | None:
    """Return the note; a half-written, damaged or missing one is None."""
    try:
        note = json.loads(os.pread(fd, _NOTE_LIMIT, 0))
    except (ValueError, RecursionError):
        return None
    match note:
        case {"pid": int(pid), "since": str(since), "what": str(what)}:
            return Holder(pid=pid, since=since, what=what)
        case _:
            return None
