"""A process that saves a file in one of the ways in which editors, agents and servers do.

It is forked before the victim starts, so that it can have the file open or mapped by then, and
saves when it is told to. Nobody ever waits for it: where a lease makes its open() wait for the
victim, the victim has to go on first, and what came of it is collected afterwards.
"""

import mmap
import os
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

PATIENCE_S = 0.05  # how long the victim stands still for a writer that does not answer
LIMIT_S = 20.0  # how long a writer may wait once the victim has ended


class Way(StrEnum):
    """How a writer saves."""

    REPLACE = "writes a new file beside the old one and renames it over"
    APPEND = "appends through a descriptor that was open before"
    REWRITE = "opens the path, truncates it and writes"
    MAP = "stores into a mapping that was made before"
    CREATE = "creates a file where there is none"


class Saved(StrEnum):
    """What came of it. Only bytes of a save that was done may be asked for."""

    NOT_YET = "not told to save"
    DONE = "saved"
    REFUSED = "an error of the system"  # its directory is gone, the path is taken
    HUNG = "still waiting when the victim had ended"


class Writer:
    """One writer with one file; saves once.

    `strangers` are the wait statuses of children that the tracer has collected meanwhile.
    """

    def __init__(self, way: Way, path: Path, token: bytes, strangers: dict[int, int]) -> None:
        self.way, self.path, self.token = way, path, token
        self._strangers = strangers
        self._told = False
        self._result: Saved | None = None
        orders, self._orders = os.pipe()
        self._answers, answers = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # threads of a test runner
            self._pid = os.fork()
        if self._pid == 0:
            os.close(self._orders)
            os.close(self._answers)
            _serve(way, path, token, orders, answers)
        os.close(orders)
        os.close(answers)
        assert self._answer(LIMIT_S) == b"r", f"no writer that {way} at {path}"

    def save(self) -> None:
        """Let it save; returns when it has, or when it seems to wait for the victim."""
        if not self._told:
            self._told = True
            os.write(self._orders, b"x")
            self._look(PATIENCE_S)

    def end(self) -> Saved:
        """Close what it has open, and say what came of its save. The victim has ended."""
        if self._told:
            self._look(LIMIT_S)
        os.close(self._orders)
        os.close(self._answers)
        if self._result is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        deadline = time.monotonic() + LIMIT_S
        while self._pid not in self._strangers:
            with suppress(ChildProcessError):
                pid, status = os.waitpid(self._pid, os.WNOHANG)
                if pid:
                    self._strangers[pid] = status
            assert time.monotonic() < deadline, "a writer does not end"
            time.sleep(0.0005)
        if not self._told:
            return Saved.NOT_YET
        return self._result or Saved.HUNG

    def _look(self, patience_s: float) -> None:
        if self._result is None:
            answer = self._answer(patience_s)
            if answer is not None:
                self._result = Saved.DONE if answer == b"d" else Saved.REFUSED

    def _answer(self, patience_s: float) -> bytes | None:
        """One byte; none when it died (a mapping whose file was cut); None when it waits."""
        ready, _, _ = select.select([self._answers], [], [], patience_s)
        return os.read(self._answers, 1) if ready else None


def _serve(way: Way, path: Path, token: bytes, orders: int, answers: int) -> None:
    """The life of the process; it stays until it is told to end, with what it has open."""
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        save = _WAYS[way](path, token)
        os.write(answers, b"r")
        if os.read(orders, 1):
            try:
                save()
                os.write(answers, b"d")
            except OSError:
                os.write(answers, b"f")
            os.read(orders, 1)
    finally:
        os._exit(0)


def _replacing(path: Path, token: bytes) -> Callable[[], None]:
    def save() -> None:
        beside = path.with_name(f".{path.name}.new~")
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, token)
        os.close(fd)
        os.rename(beside, path)

    return save


def _appending(path: Path, token: bytes) -> Callable[[], None]:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)

    def save() -> None:
        os.write(fd, token)

    return save


def _rewriting(path: Path, token: bytes) -> Callable[[], None]:
    def save() -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(fd, token)
        os.close(fd)

    return save


def _mapping(path: Path, token: bytes) -> Callable[[], None]:
    fd = os.open(path, os.O_RDWR)
    mapped = mmap.mmap(fd, 0)
    os.close(fd)

    def save() -> None:
        mapped[: len(token)] = token
        mapped.flush()

    return save


def _creating(path: Path, token: bytes) -> Callable[[], None]:
    def save() -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, token)
        os.close(fd)

    return save


_WAYS: dict[Way, Callable[[Path, bytes], Callable[[], None]]] = {
    Way.REPLACE: _replacing,
    Way.APPEND: _appending,
    Way.REWRITE: _rewriting,
    Way.MAP: _mapping,
    Way.CREATE: _creating,
}
