"""The caller's streams: what a command reads as its input, and output that is shown.

A plain write blocks when the terminal is halted by Ctrl-S or a pager does not read; timeouts and
signals would then wait too. So pipes and terminals are opened a second time, as non-blocking.
Setting O_NONBLOCK on the caller's descriptor would set it for every process that shares it. Where
opening again is not possible (sockets, macOS) writes may block.
"""

import fcntl
import os
import select
import stat
import struct
import sys
import termios

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StdinPlan


class StdinChoice(NamedTuple):
    """The decision about standard input.

    ``ignored_pipe`` is True when the caller's input is an open pipe on which nothing came. The
    command does not get it, and the front end should say so.
    """

    plan: StdinPlan
    ignored_pipe: bool


def stdin_plan(fd: int, *, explicit: bool | None = None, wait_s: float = 0.1) -> StdinChoice:
    """Decide whether the caller's input ``fd`` is meant for the command.

    ``explicit`` is the caller's own decision, if there is one. Without it, a terminal and a file
    are meant for the command, and so is a pipe or socket on which data arrives within ``wait_s``
    seconds. An open pipe without data is not: many callers leave one open for ever, and agents
    read it until it closes. This reads no byte.
    """
    try:
        mode = os.fstat(fd).st_mode
    except OSError:  # the descriptor is closed
        return StdinChoice(plan=StdinPlan.NULL, ignored_pipe=False)
    if explicit is False or _is_dev_null(fd):
        return StdinChoice(plan=StdinPlan.NULL, ignored_pipe=False)
    if os.isatty(fd):
        return StdinChoice(plan=StdinPlan.TERMINAL, ignored_pipe=False)
    if explicit or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return StdinChoice(plan=StdinPlan.INHERIT, ignored_pipe=False)
    return _look_at_pipe(fd, wait_s)


def _look_at_pipe(fd: int, wait_s: float) -> StdinChoice:
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    if not poller.poll(wait_s * 1000):
        return StdinChoice(plan=StdinPlan.NULL, ignored_pipe=True)
    waiting = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]
    # A closed, empty pipe is the same as /dev/null. A listening socket polls readable without data.
    plan = StdinPlan.INHERIT if waiting else StdinPlan.NULL
    return StdinChoice(plan=plan, ignored_pipe=False)


def _is_dev_null(fd: int) -> bool:
    seen, null = os.fstat(fd), os.stat(os.devnull)
    return stat.S_ISCHR(seen.st_mode) and seen.st_rdev == null.st_rdev


class ScreenWriter:
    """Shows output on one of the caller's descriptors; None shows nothing.

    While `pending` is not empty the screen is slow, and the caller should read no more output
    until `flush` has sent it. When the screen is gone (its reader ended, the terminal was closed)
    `gone` holds the reason and later output is dropped; the command goes on.
    """

    def __init__(self, fd: int | None) -> None:
        self.gone: str | None = None
        self.pending = b""
        self.dropped = False
        self._hurry = False
        self._own = -1
        self._fd = -1
        if fd is not None:
            self._own = _reopened(fd)
            self._fd = self._own if self._own >= 0 else fd

    @property
    def shows(self) -> bool:
        return self._fd >= 0 and self.gone is None

    def fileno(self) -> int:
        return self._fd

    def show(self, data: memoryview) -> None:
        """Write as much as the screen takes; keep a copy of the rest in `pending`."""
        if not self.shows:
            return
        assert not self.pending
        sent = self._send(data)
        if sent < len(data) and self.shows:
            if self._hurry:
                self.dropped = True
            else:
                self.pending = bytes(data[sent:])

    def flush(self) -> None:
        """Write as much of `pending` as the screen takes."""
        pending = memoryview(self.pending)
        sent = self._send(pending)
        self.pending = bytes(pending[sent:]) if self.shows else b""

    def hurry(self) -> None:
        """From now on drop the bytes that the screen does not take at once."""
        self._hurry = True
        if self.pending:
            self.flush()
            self.dropped = self.dropped or bool(self.pending)
            self.pending = b""

    def close(self) -> None:
        if self._own >= 0:
            os.close(self._own)
            self._own = self._fd = -1

    def _send(self, data: memoryview) -> int:
        done = 0
        try:
            while done < len(data):
                done += os.write(self._fd, data[done:])
        except BlockingIOError:
            pass
        except OSError as error:
            self.gone = error.strerror
        return done


def _reopened(fd: int) -> int:
    """Open the pipe or terminal behind ``fd`` again, non-blocking; -1 for anything else."""
    try:
        mode = os.fstat(fd).st_mode
        if sys.platform != "linux" or not (stat.S_ISFIFO(mode) or os.isatty(fd)):
            return -1
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{fd}", flags)
    except OSError:
        return -1
