"""Let a person choose one line of many: typing filters, arrows move, Enter takes, Esc leaves."""

import os
import re
import select
import signal
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.ground.namedtuples import NamedTuple

ENTER, LEAVE, UP, DOWN, BACK, CLEAR = "enter", "leave", "up", "down", "back", "clear"
_KEYS = {
    b"\r": ENTER,
    b"\n": ENTER,
    b"\x1b": LEAVE,
    b"\x03": LEAVE,  # Ctrl-C
    b"\x04": LEAVE,  # Ctrl-D
    b"\x1b[A": UP,
    b"\x1bOA": UP,
    b"\x10": UP,  # Ctrl-P
    b"\x1b[B": DOWN,
    b"\x1bOB": DOWN,
    b"\x0e": DOWN,  # Ctrl-N
    b"\x7f": BACK,
    b"\x08": BACK,
    b"\x15": CLEAR,  # Ctrl-U
}
# A sequence (ECMA-48), Esc with a character (Alt), Esc alone; a character of UTF-8; any other byte.
_ONE = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*(?:[@-~]|\Z)|O(?:[ -~]|\Z)|[^\x1b\[O])?"
    rb"|[\x00-\x1a\x1c-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}"
    rb"|[\xf0-\xf4][\x80-\xbf]{3}|.",
    re.DOTALL,
)
# What may be the beginning of one of these.
_BEGUN = re.compile(
    rb"(?:\x1b(?:\[[0-?]*[ -/]*|O)?|[\xc2-\xf4]|[\xe0-\xf4][\x80-\xbf]|[\xf0-\xf4][\x80-\xbf]{2})\Z"
)
_REST_S = 0.15  # in which the rest of a key comes, also from far away
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Filtering(NamedTuple):
    """What has been typed, and which of the lines that fit is chosen. A value; keys make new ones.

    A line fits if it has every word that was typed, in any order and in either case.
    """

    lines: tuple[str, ...]
    text: str = ""
    at: int = 0

    def fitting(self) -> list[int]:
        """Return the indexes of the lines that fit."""
        words = self.text.casefold().split()
        return [
            number
            for number, line in enumerate(self.lines)
            if all(word in line.casefold() for word in words)
        ]

    def chosen(self) -> int | None:
        """Return the index of the chosen line, None if no line fits."""
        fitting = self.fitting()
        return fitting[self.at] if fitting else None

    def typed(self, text: str) -> "Filtering":
        """Return what it is after this was typed."""
        return self._replace(text=self.text + text, at=0)

    def after(self, key: str) -> "Filtering":
        """Return what it is after a key that is no character."""
        if key == BACK:
            return self._replace(text=self.text[:-1], at=0)
        if key == CLEAR:
            return self._replace(text="", at=0)
        last = max(0, len(self.fitting()) - 1)
        step = {UP: -1, DOWN: 1}.get(key, 0)
        return self._replace(at=min(last, max(0, self.at + step)))


def pick_by_filter(screen: Screen, lines: Sequence[str], title: str) -> int | None:
    """Return the index of the line that the person takes; None if they leave."""
    state = Filtering(tuple(inert(line) for line in lines))
    with own_page(screen) as keyboard:
        while True:
            try:
                _draw(screen, state, title)
                pressed = keyboard.pressed()
            except (Gone, OSError):
                return None
            for key in pressed:
                if key.name == ENTER:
                    if state.chosen() is not None:
                        return state.chosen()
                elif key.name == LEAVE:
                    return None
                else:
                    state = state.after(key.name) if key.name else state.typed(key.text)


def _draw(screen: Screen, state: Filtering, title: str) -> None:
    try:
        columns, rows = os.get_terminal_size(screen.out.fileno())
    except OSError:
        columns, rows = 80, 24
    room = max(1, rows - 3)
    fitting = state.fitting()
    first = max(0, min(state.at - room // 2, len(fitting) - room))
    shown = [screen.style(shorten(f"{title} ({len(fitting)})", columns - 1), "dim")]
    for place, number in enumerate(fitting[first : first + room], start=first):
        is_chosen = place == state.at
        line = shorten(f"{'>' if is_chosen else ' '} {state.lines[number]}", columns - 1)
        shown.append(screen.style(line, "bold") if is_chosen else line)
    prompt = shorten(f"filter: {inert(state.text)}", columns - 1)
    screen.out.write("\x1b[H\x1b[2J" + "\n".join([*shown, prompt]))
    screen.out.flush()


class Key(NamedTuple):
    """A key: its name or, of one that is a character, its text."""

    name: str = ""
    text: str = ""


class Gone(Exception):
    """The terminal is gone: nobody presses a key any more."""


class Ended(Exception):
    """A signal has come that ends us."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def keys_in(pressed: bytes) -> Iterator[Key]:
    """Yield the keys; those that mean nothing here are left out."""
    for one in _ONE.findall(pressed):
        if one in _KEYS:
            yield Key(name=_KEYS[one])
        elif not one.startswith(b"\x1b"):
            text = one.decode("utf-8", "ignore")
            if text.isprintable() and text:
                yield Key(text=text)


def whole_keys(read: Callable[[float | None], bytes]) -> bytes:
    """Read until no key is only half there.

    `read` waits so many seconds for more, None for ever, and returns b"" if nothing came.
    """
    pressed = read(None)
    while _BEGUN.search(pressed):
        more = read(_REST_S)
        if not more:
            break
        pressed += more
    return pressed


class Keyboard:
    """The terminal of a person who chooses."""

    def __init__(self, wakeup: int) -> None:
        self._fd = sys.stdin.fileno()
        self._wakeup = wakeup

    def pressed(self) -> Sequence[Key]:
        """Wait for keys, or for the window to change: then there is none. Raises Gone, Ended."""
        return list(keys_in(whole_keys(self._read)))

    def _read(self, seconds: float | None) -> bytes:
        ready = select.select([self._fd, self._wakeup], [], [], seconds)[0]
        if self._wakeup in ready:
            for number in os.read(self._wakeup, 4096):
                if number in _ENDING:
                    raise Ended(number)
        if self._fd not in ready:
            return b""
        try:
            found = os.read(self._fd, 4096)
        except OSError as error:
            raise Gone from error
        if not found:
            raise Gone
        return found


@contextmanager
def own_page(screen: Screen) -> Iterator[Keyboard]:
    """Draw on the terminal's other page, and get each key as it is pressed.

    Afterwards the terminal is as it was. A signal that ends us does so after that.
    """
    ended = 0
    with _signals() as wakeup:
        try:
            with _keys_at_once(sys.stdin.fileno()), _other_page(screen):
                yield Keyboard(wakeup)
        except Ended as error:
            ended = error.number
    if ended == signal.SIGINT:
        raise KeyboardInterrupt
    if ended:
        signal.signal(ended, signal.SIG_DFL)
        os.kill(os.getpid(), ended)


@contextmanager
def _signals() -> Iterator[int]:
    """Yield a descriptor that can be read when a signal has come. Ignored ones stay ignored."""
    reading, writing = ends = os.pipe()  # macOS has no `pipe2`
    for fd in ends:
        os.set_blocking(fd, False)
    wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    before = {}
    for number in (*_ENDING, signal.SIGWINCH):
        handler = signal.getsignal(number)
        if handler is not signal.SIG_IGN:
            before[number] = handler
            signal.signal(number, lambda *_: None)
    try:
        yield reading
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(wakeup)
        os.close(reading)
        os.close(writing)


@contextmanager
def _other_page(screen: Screen) -> Iterator[None]:
    screen.out.write("\x1b[?1049h")
    try:
        yield
    finally:
        with suppress(OSError):  # it is gone
            screen.out.write("\x1b[?1049l")
            screen.out.flush()


@contextmanager
def _keys_at_once(fd: int) -> Iterator[None]:
    """Get each key as it is pressed, Ctrl-C too: it must not end us before the page is left."""
    before = termios.tcgetattr(fd)
    changed = termios.tcgetattr(fd)
    changed[0] &= ~(termios.ICRNL | termios.IXON)
    changed[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
    termios.tcsetattr(fd, termios.TCSADRAIN, changed)
    try:
        yield
    finally:
        with suppress(termios.error):
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
