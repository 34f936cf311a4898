"""Watch a run's terminal in ours, and type into it; keys by their names."""

import os
import re
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
from siding.ground.process.signals import ENDING, SignalInbox
from siding.ground.process.terminal import APPLICATION_CURSOR, BRACKETED_PASTE, ScreenModes

_PLAIN = {
    "enter": b"\r",
    "tab": b"\t",
    "escape": b"\x1b",
    "space": b" ",
    "backspace": b"\x7f",
    "shift-tab": b"\x1b[Z",
    "insert": b"\x1b[2~",
    "delete": b"\x1b[3~",
    "page-up": b"\x1b[5~",
    "page-down": b"\x1b[6~",
    "f1": b"\x1bOP",
    "f2": b"\x1bOQ",
    "f3": b"\x1bOR",
    "f4": b"\x1bOS",
    "f5": b"\x1b[15~",
    "f6": b"\x1b[17~",
    "f7": b"\x1b[18~",
    "f8": b"\x1b[19~",
    "f9": b"\x1b[20~",
    "f10": b"\x1b[21~",
    "f11": b"\x1b[23~",
    "f12": b"\x1b[24~",
}
# In the application mode of the cursor keys these begin with SS3, else with CSI.
_CURSOR = {"up": b"A", "down": b"B", "right": b"C", "left": b"D", "home": b"H", "end": b"F"}
_OTHER_NAMES = {"esc": "escape", "return": "enter", "pageup": "page-up", "pagedown": "page-down"}
_CONTROL = re.compile(r"(?:ctrl-|c-|\^)(.|space)", re.IGNORECASE)
_META = re.compile(r"(?:alt-|meta-|m-)(.+)", re.IGNORECASE)
NAMES = (*_PLAIN, *_CURSOR)
# Ctrl-] as keyboards send it that a program has switched to another encoding.
_ENCODED = rb"\x1b\[%d;5u|\x1b\[27;5;%d~"
_TYPED_SIZE = 4096
_INTERRUPT = b"\x03"
_USUAL_REGION = b"\x1b[r"
_BOTTOM = b"\x1b[9999;1H"


class UnknownKey(ValueError):
    """No key has this name."""


def key_bytes(name: str, modes: frozenset[int] = frozenset()) -> bytes:
    """Return what a key sends in a terminal with these modes; raise UnknownKey.

    A name is one character, ``enter``, ``up``, ``f1``, ``ctrl-c``, ``alt-x`` and the like.
    """
    if len(name) == 1:
        return name.encode()
    plain = _OTHER_NAMES.get(name.lower(), name.lower())
    if plain in _PLAIN:
        return _PLAIN[plain]
    if plain in _CURSOR:
        return (b"\x1bO" if APPLICATION_CURSOR in modes else b"\x1b[") + _CURSOR[plain]
    if found := _CONTROL.fullmatch(name):
        return _control(found[1])
    if found := _META.fullmatch(name):
        return b"\x1b" + key_bytes(found[1], modes)
    raise UnknownKey(name)


def _control(character: str) -> bytes:
    if character == "?":
        return b"\x7f"
    code = ord("@" if character.lower() in (" ", "space") else character.upper())
    if not 0x40 <= code <= 0x5F:
        raise UnknownKey(f"ctrl-{character}")
    return bytes([code & 0x1F])


def text_bytes(text: str, modes: frozenset[int]) -> bytes:
    """Return what a terminal sends when a text is pasted; several lines are marked as pasted, if
    the program asked for that."""
    data = text.encode("utf-8", "surrogateescape").replace(b"\n", b"\r")
    if b"\r" in data and BRACKETED_PASTE in modes:
        return b"\x1b[200~" + data.replace(b"\x1b", b"") + b"\x1b[201~"
    return data


class Keys(NamedTuple):
    """Keys for the program, and whether the viewer is to be left after them."""

    typed: bytes
    leaves: bool


class Prefix:
    """The prefix is one control character. With `d` behind it the viewer is left; twice, it goes to
    the program once; anything else behind it goes there with it."""

    def __init__(self, key: bytes, *, leaves_at_once: bool = False) -> None:
        assert len(key) == 1
        self._key = key
        self._leaves_at_once = leaves_at_once  # with nothing behind it
        code = key[0] | 0x40
        codes = sorted({code, code | 0x20})
        other = b"|".join(_ENCODED % (each, each) for each in codes)
        self._pattern = re.compile(re.escape(key) + b"|" + other)
        self._held = b""  # the prefix as it came, while the key behind it is waited for

    def feed(self, data: bytes) -> Keys:
        """Take keys; return those for the program."""
        typed = b""
        while data:
            if self._held:
                held, self._held = self._held, b""
                again = self._pattern.match(data)
                if again is not None:
                    typed, data = typed + again[0], data[again.end() :]
                elif data[:1] in (b"d", b"D", b"\x04"):
                    return Keys(typed, leaves=True)
                else:
                    typed, data = typed + held + data[:1], data[1:]
                continue
            found = self._pattern.search(data)
            if found is None:
                return Keys(typed + data, leaves=False)
            typed += data[: found.start()]
            if self._leaves_at_once:
                return Keys(typed, leaves=True)
            self._held, data = found[0], data[found.end() :]
        return Keys(typed, leaves=False)


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
        self,
        connection: Connection,
        *,
        prefix: bytes,
        read_only: bool,
        stdin: int,
        stdout: int,
        leaves_at_once: bool = False,
    ) -> None:
        self._connection = connection
        self._has_terminal = connection.welcome.terminal
        self._types = self._has_terminal and not read_only
        self._prefix = Prefix(prefix, leaves_at_once=leaves_at_once)
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
