"""Watch a run's terminal in ours, and type into it."""

import os
import select
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum

from siding.ground.files.durable import write_all
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import terminal
from siding.ground.process.control import frames
from siding.ground.process.control.client import Connection, HostGone, Refused, RunEnd, end_of
from siding.ground.process.control.prefix import Prefix
from siding.ground.process.signals import ENDING, SignalInbox
from siding.ground.process.terminal import ScreenModes

_TYPED_SIZE = 4096
_INTERRUPT = b"\x03"
_USUAL_REGION = b"\x1b[r"
_BOTTOM = b"\x1b[9999;1H"


class Left(StrEnum):
    """Why the viewer ended."""

    DETACHED = "detached"  # by its key, or by a signal to us
    ENDED = "ended"  # the run did
    LOST = "lost"  # the host closed the connection and did not say why


class View(NamedTuple):
    """How watching ended; `end` is that of the run, if the host told it."""

    left: Left
    end: RunEnd | None = None
    skipped: int = 0  # bytes that were not shown, because we were too slow


class Viewer:
    """Shows a run on the terminal `stdout` and passes on what is typed at the terminal `stdin`."""

    def __init__(
        self, connection: Connection, *, prefix: bytes, read_only: bool, stdin: int, stdout: int
    ) -> None:
        self._connection = connection
        self._has_terminal = connection.welcome.terminal
        self._types = self._has_terminal and not read_only
        self._prefix = Prefix(prefix)
        self._modes = ScreenModes()
        self._stdin = stdin
        self._stdout = stdout
        self._skipped = 0

    def run(self) -> View:
        """Watch until the run ends, the viewer is detached, or the host is gone."""
        with SignalInbox() as inbox, _keys_at_once(self._stdin, raw=self._has_terminal):
            try:
                return self._loop(inbox)._replace(skipped=self._skipped)
            except (HostGone, Refused, TimeoutError):
                return View(Left.LOST, skipped=self._skipped)
            finally:
                self._tidy_up()

    def _loop(self, inbox: SignalInbox) -> View:
        poller = select.poll()
        for fd in (inbox.fileno(), self._connection.fileno(), self._stdin):
            poller.register(fd, select.POLLIN)
        while True:
            ready = {fd for fd, _event in poller.poll(0 if self._connection.has_more else None)}
            if inbox.fileno() in ready and self._is_told_to_leave(inbox.take()):
                return View(Left.DETACHED)
            if self._connection.fileno() in ready or self._connection.has_more:
                end = self._show()
                if end is not None:
                    return View(Left.ENDED, end)
            if self._stdin in ready and self._read_keys():
                return View(Left.DETACHED)

    def _is_told_to_leave(self, numbers: list[int]) -> bool:
        if signal.SIGWINCH in numbers and self._types:
            size = terminal.window_size(self._stdout)
            if size is not None:
                self._connection.resize(size)
        return any(number in ENDING or number == signal.SIGINT for number in numbers)

    def _show(self) -> RunEnd | None:
        for frame in self._connection.read():
            if frame.kind == frames.OUTPUT:
                self._write(frame.data)
            elif frame.kind == frames.SKIPPED:
                self._skipped += frames.number(frame.fields().get("bytes"), most=1 << 62)
                self._write(b"\x1b[2J\x1b[H" if self._has_terminal else b"\n[...]\n")
            elif frame.kind == frames.ENDED:
                return end_of(frame)
        return None

    def _write(self, data: bytes) -> None:
        if self._has_terminal:
            self._modes.feed(memoryview(data))
        write_all(self._stdout, data)

    def _read_keys(self) -> bool:
        """Pass on what was typed; return whether the viewer is to be left."""
        try:
            data = os.read(self._stdin, _TYPED_SIZE)
        except OSError:
            data = b""
        if not data:
            return True  # our terminal is gone
        keys = self._prefix.feed(data)
        if self._types and keys.typed:
            self._connection.type(keys.typed)
        return keys.leaves or (not self._has_terminal and _INTERRUPT in keys.typed)

    def _tidy_up(self) -> None:
        """Leave our terminal as a shell expects it, with its prompt below what is there.

        To set the scrolling region back moves the cursor to the top, so that comes first; what is
        drawn on the main screen stays, and the prompt goes below it. Leaving the alternate screen
        brings back what was there before, and the cursor.
        """
        try:
            if self._has_terminal:
                write_all(self._stdout, _USUAL_REGION)
                if not self._modes.switched & terminal.ALTERNATE_SCREENS:
                    write_all(self._stdout, _BOTTOM)
            write_all(self._stdout, self._modes.reset())
            if self._has_terminal:
                write_all(self._stdout, b"\x1b[0m\x1b[?25h\r\n")
            # What our terminal answered to the program by now would be typed at the shell.
            termios.tcflush(self._stdin, termios.TCIFLUSH)
        except (OSError, termios.error):
            pass  # our terminal is gone


@contextmanager
def _keys_at_once(fd: int, *, raw: bool) -> Iterator[None]:
    """Have keys arrive as bytes, without echo. Without `raw` a line feed still begins a line."""
    with terminal.RawMode(fd):
        if not raw:
            settings = termios.tcgetattr(fd)
            settings[1] |= termios.OPOST | termios.ONLCR
            termios.tcsetattr(fd, termios.TCSANOW, settings)
        yield
