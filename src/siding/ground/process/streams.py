"""The streams of a command and of its caller: what it reads, and how output is moved and shown.

Only writing to the disk can block. A plain write to a terminal would, too, when that is halted by
Ctrl-S or a pager does not read; timeouts and signals would then wait. So pipes and terminals are
opened a second time, as non-blocking. Setting O_NONBLOCK on the caller's descriptor would set it
for every process that shares it. Where opening again is not possible (sockets, macOS) writes to the
screen may block.
"""

import fcntl
import os
import select
import stat
import struct
import sys
import termios
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StdinPlan
from siding.ground.process.output.recording import OutputFiles

if TYPE_CHECKING:
    from siding.ground.process.terminal import ScreenModes

_STDERR_SIZE = 1 << 18
_READS = 32  # reads in a row before the screen gets what was read
_TYPED_SIZE = 4096
_END_OF_FILE = b"\x04"  # Ctrl-D, what a terminal takes for the end of its input


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


class Channel:
    """One stream of a command: bytes from ``fd`` go into the artifact, then onto the screen.

    ``slave`` is the command's side of a terminal. We hold it open until the command ends. Without
    that, reading the master fails with EIO whenever no process has the slave open for a moment,
    which looks like the end of the output. ``seen`` gets all that is read, too.
    """

    def __init__(
        self,
        fd: int,
        recorder: OutputFiles,
        screen: ScreenWriter,
        *,
        stderr: bool = False,
        slave: int | None = None,
        seen: Callable[[memoryview], None] | None = None,
    ) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.screen = screen
        self.open = True
        self.moved = 0  # bytes read so far
        self._slave = slave
        self._seen = seen
        self._recorder = recorder
        self._stderr = bytearray(_STDERR_SIZE) if stderr else None
        self._lent: bytearray | None = None
        self._modes = _modes_of(screen)

    @property
    def blocked(self) -> bool:
        """Whether the screen has to catch up before more may be read."""
        return bool(self.screen.pending)

    def pump(self) -> bool:
        """Move the bytes that are there, up to one buffer; return whether there were any."""
        buffer = self._borrow()
        data = self._fill(memoryview(buffer))
        if not data:
            return False
        self.moved += len(data)
        if self._stderr is not None:
            self._recorder.write_stderr(data)
        else:
            self._lent = None
            self._recorder.write_stdout(buffer, len(data))
        self.screen.show(data)
        if self._seen is not None:
            self._seen(data)
        if self._modes is not None:
            self._modes.feed(data)
        return True

    def _fill(self, view: memoryview) -> memoryview:
        """Read until no byte is there at the moment, and return what was read.

        A terminal returns at most 4 kB for each read, and recording and showing 100 kB costs about
        as much as for 4 kB.
        """
        size = 0
        for _ in range(_READS):
            try:
                more = os.readv(self.fd, [view[size:]])
            except BlockingIOError:
                break
            except OSError:  # EIO on Linux: no process has the other side of the terminal open
                more = 0
            if more == 0:
                self.close()
                break
            size += more
            if size == len(view):
                break
        return view[:size]

    def command_ended(self) -> None:
        """Close our copy of the terminal's slave: the stream ends with its last process now."""
        if self._slave is not None:
            os.close(self._slave)
            self._slave = None

    def close(self) -> None:
        self.command_ended()
        if self.open:
            self.open = False
            os.close(self.fd)

    def restore_screen(self) -> None:
        """Switch off the screen modes that a killed full-screen program left on."""
        if self._modes is not None and self.screen.shows:
            self.screen.show(memoryview(self._modes.reset()))

    def _borrow(self) -> bytearray:
        if self._stderr is not None:
            return self._stderr
        if self._lent is None:
            self._lent = self._recorder.buffer()
        return self._lent


def _modes_of(screen: ScreenWriter) -> "ScreenModes | None":
    """Return what takes note of the modes of the caller's terminal; None if it is none."""
    if not screen.shows or not os.isatty(screen.fileno()):
        return None
    from siding.ground.process.terminal import ScreenModes

    return ScreenModes()


class TerminalInput:
    """Types the caller's input into the command's terminal.

    With `StdinPlan.NULL` it types one end-of-file (Ctrl-D) and nothing else. After the end of a
    file or pipe it types an end-of-file too. With `StdinPlan.VIEWERS` and `FED` it types what
    others put into `pending`. `used` is called with what the caller has typed.
    """

    def __init__(self, fd: int, master: int, plan: StdinPlan) -> None:
        self.fd = fd
        self.master = master
        self.open = plan in (StdinPlan.TERMINAL, StdinPlan.INHERIT)
        self.pending = _END_OF_FILE if plan is StdinPlan.NULL else b""
        self.used: Callable[[bytes], None] | None = None
        self._ends = plan is StdinPlan.INHERIT
        self._last = b"\n"

    def read(self) -> None:
        """Read what was typed. Call this when ``fd`` is readable and nothing is pending."""
        try:
            data = os.read(self.fd, _TYPED_SIZE)
        except OSError:  # the terminal is gone
            data = b""
        if data:
            self._last = data[-1:]
            if self.used is not None:
                self.used(data)
        else:
            self.open = False
            # After an unfinished line the first Ctrl-D only submits that line; the second ends.
            data = _END_OF_FILE * (1 if self._last == b"\n" else 2) if self._ends else b""
        self.pending += data

    def send(self) -> None:
        """Write the pending bytes to the command's terminal, as many as it takes."""
        try:
            sent = os.write(self.master, self.pending)
        except BlockingIOError:
            return
        except OSError:  # the command's terminal is closed
            self.open = False
            sent = len(self.pending)
        self.pending = self.pending[sent:]
