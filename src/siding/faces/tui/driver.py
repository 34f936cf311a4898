"""The driver of the terminal: Textual's, with our filter before its parser, and an end to it.

Textual's own reads on for ever from a terminal that is gone, and blocks when it can write no more.
"""

import os
import select
import sys
import time
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import (
    SPECIAL_SEQUENCES,
    XTermParser,
    _re_extended_key,
    _re_in_band_window_resize,
    _re_mouse_event,
    _re_terminal_mode_response,
)
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from siding.faces.tui.input import Filter, Pasted, Piece, Pressed, Sequence

if TYPE_CHECKING:
    from textual.app import App

_READ = 65_536
_PATTERNS = (
    _re_extended_key,
    _re_in_band_window_resize,
    _re_mouse_event,
    _re_terminal_mode_response,
)


class TerminalReply(Message):
    """The terminal answered, or told something of itself."""

    bubble = False

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class TerminalGone(Message):
    """Nothing more comes from the terminal: its window was closed."""

    bubble = False


def is_key(sequence: str) -> bool:
    """Tell whether Textual's parser knows a whole sequence. Others it would type as letters."""
    return (
        sequence in ANSI_SEQUENCES_KEYS
        or sequence in SPECIAL_SEQUENCES
        or any(pattern.match(sequence) is not None for pattern in _PATTERNS)
    )


class SidingDriver(LinuxDriver):
    """Reads keys through the filter, waits without waking up, and ends with its terminal."""

    def __init__(
        self,
        app: "App[object]",
        *,
        debug: bool = False,
        mouse: bool = True,
        size: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._file = sys.__stdout__  # what is shown; stderr may be a file
        self._typed = str(getattr(app, "typed", ""))  # before the screen took keys
        self._modes = getattr(app, "modes", None)
        self._wake: tuple[int, int] | None = None  # a pipe that ends the thread of keys

    def _get_terminal_size(self) -> tuple[int, int]:
        """Return the size of the terminal itself: COLUMNS may be of another one."""
        try:
            columns, lines = os.get_terminal_size(self.fileno)
        except OSError:
            return super()._get_terminal_size()
        return columns or 80, lines or 25

    def start_application_mode(self) -> None:
        self._wake = os.pipe()
        super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual's
        if self._modes is not None:
            # What is put back when the screen is left or put away. Textual has kept those of the
            # start, without echo and lines: a shell or git that reads from them waits for ever.
            self.attrs_before = list(self._modes)
        if self._writer_thread is not None and self._file is not None:
            before, self._writer_thread = self._writer_thread, _Writer(self._file)
            before.stop()
            self._writer_thread.start()

    def disable_input(self) -> None:
        if self._wake is not None:
            os.write(self._wake[1], b"x")
        super().disable_input()

    def close(self) -> None:
        super().close()
        if self._wake is not None:
            wake, self._wake = self._wake, None
            for fd in wake:
                os.close(fd)

    def run_input_thread(self) -> None:
        """Read until the screen is left or the terminal is gone."""
        assert self._wake is not None
        wake = self._wake[0]
        parser, taken = XTermParser(self._debug), Filter(is_key)
        decode = getincrementaldecoder("utf-8")("replace").decode
        poller = select.poll()
        poller.register(self.fileno, select.POLLIN)
        poller.register(wake, select.POLLIN)
        typed, self._typed = self._typed, ""
        for piece in taken.feed(typed, time.monotonic()):
            self._tell(parser, piece)
        while True:
            wait = taken.wait_s(time.monotonic())
            ready = {
                fd for fd, _event in poller.poll(None if wait is None else max(0, wait) * 1000)
            }
            if wake in ready:
                return
            pieces = taken.tick(time.monotonic())
            if self.fileno in ready:
                try:
                    data = os.read(self.fileno, _READ)
                except OSError:
                    data = b""
                if not data:
                    self.process_message(TerminalGone())
                    return
                pieces += taken.feed(decode(data), time.monotonic())
            for piece in pieces:
                self._tell(parser, piece)

    def _tell(self, parser: XTermParser, piece: Piece) -> None:
        if isinstance(piece, Sequence):
            for message in parser.feed(piece.text):
                self.process_message(message)
        elif isinstance(piece, Pressed):
            character = "\x1b" if piece.key == "escape" else None
            self.process_message(events.Key(piece.key, character))
        elif isinstance(piece, Pasted):
            self.process_message(events.Paste(piece.text))
        else:
            self.process_message(TerminalReply(piece.text))


class _Writer(WriterThread):
    """Writes as Textual's does; what a terminal that is gone does not take is dropped."""

    def run(self) -> None:
        while (text := self._queue.get()) is not None:
            self._try(text, flushes=self._queue.qsize() == 0)
        self._try("", flushes=True)

    def _try(self, text: str, *, flushes: bool) -> None:
        try:
            self._file.write(text)
            if flushes:
                self._file.flush()
        except OSError:
            # What is left in its buffer would fail again at the end of the process.
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(nowhere, self._file.fileno())
            os.close(nowhere)
