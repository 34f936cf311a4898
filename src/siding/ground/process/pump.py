"""Move bytes between a command and the caller. Only writing to the disk can block."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.ground.process.command import StdinPlan
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.streams import ScreenWriter

if TYPE_CHECKING:
    from siding.ground.process.terminal import ScreenModes

_STDERR_SIZE = 1 << 18
_READS = 32  # reads in a row before the screen gets what was read
_TYPED_SIZE = 4096
_END_OF_FILE = b"\x04"  # Ctrl-D, what a terminal takes for the end of its input


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
