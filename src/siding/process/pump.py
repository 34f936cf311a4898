"""Moving bytes between a command and the caller. Nothing here waits, but for the disk."""

import os

from siding.process.command import StdinPlan
from siding.process.output import OutputFiles
from siding.process.screen import ScreenWriter
from siding.process.terminal import ScreenModes

_STDERR_SIZE = 1 << 18
_READS = 32  # in a row; the screen should not wait for more
_TYPED_SIZE = 4096
_END_OF_FILE = b"\x04"  # Ctrl-D, what a terminal takes for the end of its input


class Channel:
    """One stream of a command: from ``fd`` into the artifact, then onto the screen.

    ``slave`` is the command's side of a terminal, held open until the command ends: a terminal
    nobody has open for a moment would look like its end, and closing ours would hang up on it.
    """

    def __init__(
        self,
        fd: int,
        recorder: OutputFiles,
        screen: ScreenWriter,
        *,
        stderr: bool = False,
        slave: int | None = None,
    ) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.screen = screen
        self.open = True
        self.moved = 0  # bytes that came
        self._slave = slave
        self._recorder = recorder
        self._stderr = bytearray(_STDERR_SIZE) if stderr else None
        self._lent: bytearray | None = None
        self._modes = ScreenModes() if screen.shows and os.isatty(screen.fileno()) else None

    @property
    def blocked(self) -> bool:
        """Whether the screen has to catch up before more may be read."""
        return bool(self.screen.pending)

    def pump(self) -> bool:
        """Move what is there, up to a buffer; return whether there was anything."""
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
        if self._modes is not None:
            self._modes.feed(data)
        return True

    def _fill(self, view: memoryview) -> memoryview:
        """Read until nothing is there at the moment. A terminal hands out 4 kB at a time, and
        what follows costs about the same for 4 kB as for a hundred."""
        size = 0
        for _ in range(_READS):
            try:
                more = os.readv(self.fd, [view[size:]])
            except BlockingIOError:
                break
            except OSError:  # EIO: nobody has the other side of a terminal open any more
                more = 0
            if more == 0:
                self.close()
                break
            size += more
            if size == len(view):
                break
        return view[:size]

    def command_ended(self) -> None:
        """From now on the end of the stream is when the last process has closed it."""
        if self._slave is not None:
            os.close(self._slave)
            self._slave = None

    def close(self) -> None:
        self.command_ended()
        if self.open:
            self.open = False
            os.close(self.fd)

    def restore_screen(self) -> None:
        """Switch off what a full-screen program that did not end by itself left on."""
        if self._modes is not None and self.screen.shows:
            self.screen.show(memoryview(self._modes.reset()))

    def _borrow(self) -> bytearray:
        if self._stderr is not None:
            return self._stderr
        if self._lent is None:
            self._lent = self._recorder.buffer()
        return self._lent


class TerminalInput:
    """The caller's input, typed into the command's terminal.

    With `StdinPlan.NULL` that is one end-of-file and nothing else; a file or pipe is followed
    by one.
    """

    def __init__(self, fd: int, master: int, plan: StdinPlan) -> None:
        self.fd = fd
        self.master = master
        self.open = plan is not StdinPlan.NULL
        self.pending = b"" if self.open else _END_OF_FILE
        self._ends = plan is StdinPlan.INHERIT
        self._last = b"\n"

    def read(self) -> None:
        """Take what was typed. Call when ``fd`` is readable and nothing is pending."""
        try:
            data = os.read(self.fd, _TYPED_SIZE)
        except OSError:  # the terminal is gone
            data = b""
        if data:
            self._last = data[-1:]
        else:
            self.open = False
            # The first one only hands over a line that was begun.
            data = _END_OF_FILE * (1 if self._last == b"\n" else 2) if self._ends else b""
        self.pending += data

    def send(self) -> None:
        """Type what is pending, as far as the command's terminal takes it."""
        try:
            sent = os.write(self.master, self.pending)
        except BlockingIOError:
            return
        except OSError:  # the command's terminal is closed
            self.open = False
            sent = len(self.pending)
        self.pending = self.pending[sent:]
