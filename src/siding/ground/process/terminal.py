"""A terminal: its size, raw mode, the modes that a killed program leaves on, safe points.

A safe point is a place in a terminal's output after which the screen no longer depends on what came
before.
"""

import fcntl
import os
import re
import struct
import termios
import tty
from types import TracebackType
from typing import Any, Self

from siding.ground.process.command import WindowSize

_PRIVATE_MODE = re.compile(rb"\x1b\[\?([0-9;]{1,64})([hl])")
_LONGEST_SEQUENCE = 80
# Private modes of xterm that full-screen programs switch on and a shell prompt must not inherit.
# All but the cursor (25) are normally off. 47, 1047, 1049: alternate screen; 1000-1015: mouse;
# 1004: focus events; 2004: bracketed paste; 1: application cursor keys.
_WATCHED_MODES = frozenset({1, 25, 47, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 1047, 1049, 2004})
_CURSOR = 25
ALTERNATE_SCREENS = frozenset({47, 1047, 1049})
APPLICATION_CURSOR = 1  # the arrow keys send other sequences
BRACKETED_PASTE = 2004  # pasted text is marked as such
# Keyboards are told to name keys in another way: by xterm (CSI > 4 m), by kitty (CSI > u, CSI = u).
# Other sequences that begin so do no harm here: the keyboard is reset for nothing.
_KEYBOARD = (b"\x1b[>", b"\x1b[=")
_USUAL_KEYBOARD = b"\x1b[>4m\x1b[=0u"
_MOST_LINE = 4096  # bytes in which the beginning of a line is looked for
_ON = rb"\x1b\[\?(?:[0-9]{1,4};){0,4}(?:47|1047|1049)(?:;[0-9]{1,4}){0,4}h"
_OFF = rb"\x1b\[\?(?:[0-9]{1,4};){0,4}(?:47|1047|1049)(?:;[0-9]{1,4}){0,4}l"
ALTERNATE = re.compile(b"(?P<on>%s)|(?P<off>%s)" % (_ON, _OFF))
# A full reset (RIS), an erased screen (ED 2, or ED 0 in the corner), a change to the other screen.
_SAFE = re.compile(rb"\x1bc|\x1b\[2J|\x1b\[(?:1;1)?H\x1b\[0?J|" + _ON)


def window_size(fd: int) -> WindowSize | None:
    """Return a terminal's size; None when ``fd`` is no terminal, or one without a size.

    A negative ``fd`` is none.
    """
    if fd < 0:
        return None
    try:
        packed = fcntl.ioctl(fd, termios.TIOCGWINSZ, bytes(8))
    except OSError:
        return None
    rows, columns, _width, _height = struct.unpack("HHHH", packed)
    return WindowSize(rows=rows, columns=columns) if rows and columns else None


def set_window_size(fd: int, size: WindowSize) -> None:
    """Set a terminal's size; the kernel sends SIGWINCH to its foreground group on a change."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", size.rows, size.columns, 0, 0))


def attributes(fd: int) -> list[Any] | None:
    """Return a terminal's settings for `termios.tcsetattr`; None when it is no terminal."""
    if fd < 0:
        return None
    try:
        return termios.tcgetattr(fd)
    except termios.error:
        return None


def is_ours(fd: int) -> bool:
    """Return whether ``fd`` is a terminal and we are in its foreground.

    Reading it or changing its settings from the background would stop us (SIGTTIN, SIGTTOU).
    """
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False


class RawMode:
    """Puts a terminal into raw mode: keys arrive as bytes, and nothing is echoed.

    Ctrl-C is a byte too. The `with` block restores the settings on every way out but SIGKILL.
    TCSANOW does not wait for output, which would block on a terminal that is halted by Ctrl-S.
    """

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self._before: list[Any] | None = None

    def on(self) -> None:
        if self._before is None:
            self._before = termios.tcgetattr(self.fd)
            tty.setraw(self.fd, termios.TCSANOW)

    def off(self) -> None:
        before, self._before = self._before, None
        if before is not None:
            try:
                termios.tcsetattr(self.fd, termios.TCSANOW, before)
            except termios.error:
                pass  # the terminal is gone

    def __enter__(self) -> Self:
        self.on()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.off()


class ScreenModes:
    """Tracks the modes a program has switched, so that they can be reset after it was killed."""

    def __init__(self) -> None:
        self._switched: set[int] = set()
        self._carry = b""
        self._changed_keyboard = False

    @property
    def switched(self) -> frozenset[int]:
        """The numbers of the modes that are not in their normal state."""
        return frozenset(self._switched)

    def feed(self, data: memoryview) -> None:
        """Take note of the modes that these bytes of output switch."""
        window = self._carry + bytes(data)
        end = 0
        for match in _PRIVATE_MODE.finditer(window):
            end = match.end()
            for word in match[1].split(b";"):
                mode = int(word or b"0")
                if mode in _WATCHED_MODES:
                    unusual = (match[2] == b"h") is (mode != _CURSOR)
                    (self._switched.add if unusual else self._switched.discard)(mode)
        if not self._changed_keyboard and b"\x1b" in window:
            self._changed_keyboard = any(each in window for each in _KEYBOARD)
        start = window.rfind(b"\x1b", max(end, len(window) - _LONGEST_SEQUENCE))
        self._carry = window[start:] if start >= 0 else b""

    def reset(self) -> bytes:
        """Return the bytes that restore the screen; b"" when every mode is in its normal state."""
        keyboard = _USUAL_KEYBOARD if self._changed_keyboard else b""
        if not self._switched:
            return keyboard
        back = [
            b"\x1b[?%d%c" % (mode, b"h" if mode == _CURSOR else b"l")
            for mode in sorted(self._switched, reverse=True)
        ]
        return keyboard + b"".join(back) + b"\x1b[0m"

    def again(self) -> bytes:
        """Return the bytes that switch another terminal's modes in the same way, but its screen."""
        return b"".join(
            b"\x1b[?%d%c" % (mode, b"l" if mode == _CURSOR else b"h")
            for mode in sorted(self._switched - ALTERNATE_SCREENS)
        )


def since_safe_point(data: bytes) -> bytes:
    """Return the end of a terminal's output, from the last safe point on.

    Of what a program drew on the alternate screen and left again, nothing is on the screen.
    """
    data = _without_left_screens(data)
    start = 0
    for found in _SAFE.finditer(data):
        start = found.start()
    return data[start:]


def _without_left_screens(data: bytes) -> bytes:
    kept: list[bytes] = []
    position, entered = 0, None
    for found in ALTERNATE.finditer(data):
        if found["on"] is not None:
            entered = found.start() if entered is None else entered
        elif entered is not None:
            kept.append(data[position:entered])
            position, entered = found.end(), None
        elif not kept:  # it was entered before these bytes begin
            position = found.end()
    return b"".join([*kept, data[position:]])


def from_line_start(data: bytes) -> bytes:
    """Cut off the rest of a line or sequence whose beginning is gone."""
    end = data.find(b"\n", 0, _MOST_LINE)
    if end < 0:
        end = data.find(b"\x1b", 0, _MOST_LINE) - 1
    return data[end + 1 :] if end >= 0 else data
