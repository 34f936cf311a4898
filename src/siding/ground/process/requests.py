"""What another thread asks of a run while it lives: input for its command, and its end.

A program that hosts runs in threads of its own has no signals to end them with, and no terminal to
type into. The loop that drives the run serves this like a socket.
"""

import os
import select
from collections.abc import Callable
from threading import Condition

from siding.ground.process.signals import INTERRUPT, SignalInbox
from siding.ground.process.streams import TerminalInput

_MOST_WAITING = 256 << 10  # bytes of input that the command has not read
_END_OF_FILE = b"\x04"  # Ctrl-D, what a terminal takes for the end of its input

Seen = Callable[[bytes, bool], None]


class InputClosed(Exception):
    """The command takes no more input: it has ended, or closed its input, or was given none."""


class Requests:
    """Asked for by other threads; carried out in the loop of one run.

    `seen` gets what the command prints, and whether it was on standard error. It is called in the
    thread of the run, which waits for it.
    """

    due: float | None = None  # the loop has to call for nothing but the descriptors

    def __init__(self, seen: Seen | None = None) -> None:
        self._seen = seen
        self._changed = Condition()
        self._asked, self._asking = ends = os.pipe()  # macOS has no `pipe2`
        for fd in ends:
            os.set_blocking(fd, False)
        self._waiting = b""
        self._ends_input = False
        self._stops: list[bool] = []
        self._interrupts = 0
        self._is_stopped = False
        self._inbox: SignalInbox | None = None
        self._stdin = -1
        self._typed: TerminalInput | None = None
        self._is_over = False

    # Called by other threads.

    @property
    def is_stopped(self) -> bool:
        """Whether the end of the run was asked for."""
        return self._is_stopped

    def type(self, data: bytes) -> None:
        """Give the command input; wait while much of it is still unread. Raises InputClosed."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < _MOST_WAITING or self._is_closed)
            if self._is_closed:
                raise InputClosed
            self._waiting += data
            self._wake()

    def end_input(self) -> None:
        """Let the command read the end of its input behind what was typed."""
        with self._changed:
            self._ends_input = True
            self._wake()

    def stop(self, *, now: bool = False) -> None:
        """End everything that the run started: SIGTERM, two seconds, SIGKILL; `now` at once."""
        with self._changed:
            self._is_stopped = True
            self._stops.append(now)
            self._wake()

    def interrupt(self) -> None:
        """Send the command SIGINT. It may go on, and so does the run."""
        with self._changed:
            self._interrupts += 1
            self._wake()

    # Called in the loop.

    def feed(self, fd: int) -> None:
        """Write the input to this end of the command's pipe from now on."""
        os.set_blocking(fd, False)
        self._close_input()  # of an attempt that did not start
        self._stdin = fd

    def begin(self, inbox: SignalInbox, typed: TerminalInput | None) -> None:
        """Take note that the command was started; `typed` is the way into its terminal."""
        self._inbox, self._typed = inbox, typed
        self._take()

    def saw(self, data: memoryview, *, stderr: bool) -> None:
        if self._seen is not None:
            self._seen(bytes(data), stderr)

    def wanted(self) -> list[tuple[int, int, Callable[[], object]]]:
        if self._typed is not None:
            self._type_into_terminal(self._typed)
        found: list[tuple[int, int, Callable[[], object]]] = [
            (self._asked, select.POLLIN, self._take)
        ]
        if self._stdin >= 0 and self._waiting:
            found.append((self._stdin, select.POLLOUT, self._write))
        return found

    def over(self) -> None:
        """Take note that the run has ended; nothing is asked of it any more."""
        with self._changed:
            self._is_over = True
            self._close_input()
            self._inbox = None
            if self._asked >= 0:
                os.close(self._asked)
                os.close(self._asking)
                self._asked = self._asking = -1
            self._changed.notify_all()

    @property
    def _is_closed(self) -> bool:
        return self._is_over or self._ends_input

    def _wake(self) -> None:
        try:
            os.write(self._asking, b"x")
        except OSError:
            pass  # full, so the loop will look; or the run is over

    def _take(self) -> None:
        """Carry out what was asked for."""
        with self._changed:
            try:
                os.read(self._asked, 4096)
            except BlockingIOError:
                pass
            stops, self._stops = self._stops, []
            interrupts, self._interrupts = self._interrupts, 0
            assert self._inbox is not None
            for _ in range(interrupts):
                self._inbox.post(INTERRUPT)
            for now in stops:
                self._inbox.stop(now)
            if self._ends_input and not self._waiting:
                self._close_input()

    def _type_into_terminal(self, typed: TerminalInput) -> None:
        """Hand on what waits when the terminal has taken what was handed on before."""
        with self._changed:
            if typed.pending:
                return
            typed.pending, self._waiting = self._waiting, b""
            if self._ends_input:
                typed.pending += _END_OF_FILE
                self._typed = None
            self._changed.notify_all()

    def _write(self) -> None:
        with self._changed:
            try:
                sent = os.write(self._stdin, self._waiting)
            except BlockingIOError:
                return
            except OSError:  # the command has closed its input
                self._ends_input, sent = True, len(self._waiting)
            self._waiting = self._waiting[sent:]
            if self._ends_input and not self._waiting:
                self._close_input()
            self._changed.notify_all()

    def _close_input(self) -> None:
        if self._stdin >= 0:
            os.close(self._stdin)
            self._stdin = -1
