"""Let a person choose one line of many: typing filters, arrows move, Enter takes, Esc leaves."""

import os
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from siding.cli.screen.screen import Screen, inert, shorten
from siding.namedtuples import NamedTuple

_ENTER, _LEAVE, _UP, _DOWN, _BACK, _CLEAR = "enter", "leave", "up", "down", "back", "clear"
_KEYS = {
    b"\r": _ENTER,
    b"\n": _ENTER,
    b"\x1b": _LEAVE,
    b"\x03": _LEAVE,  # Ctrl-C
    b"\x04": _LEAVE,  # Ctrl-D
    b"\x1b[A": _UP,
    b"\x1bOA": _UP,
    b"\x10": _UP,  # Ctrl-P
    b"\x1b[B": _DOWN,
    b"\x1bOB": _DOWN,
    b"\x0e": _DOWN,  # Ctrl-N
    b"\x7f": _BACK,
    b"\x08": _BACK,
    b"\x15": _CLEAR,  # Ctrl-U
}


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
        if key == _BACK:
            return self._replace(text=self.text[:-1], at=0)
        if key == _CLEAR:
            return self._replace(text="", at=0)
        last = max(0, len(self.fitting()) - 1)
        step = {_UP: -1, _DOWN: 1}.get(key, 0)
        return self._replace(at=min(last, max(0, self.at + step)))


def pick_by_filter(screen: Screen, lines: Sequence[str], title: str) -> int | None:
    """Return the index of the line that the person takes; None if they leave."""
    state = Filtering(tuple(inert(line) for line in lines))
    with _keys_at_once(sys.stdin.fileno()), _own_page(screen):
        while True:
            _draw(screen, state, title)
            pressed = os.read(sys.stdin.fileno(), 4096)
            if not pressed:
                return None  # the terminal is gone
            for key, text in _keys_in(pressed):
                if key == _ENTER:
                    if state.chosen() is not None:
                        return state.chosen()
                elif key == _LEAVE:
                    return None
                else:
                    state = state.after(key) if key else state.typed(text)


def _keys_in(pressed: bytes) -> Iterator[tuple[str, str]]:
    """Yield each key as (its name, "") or, for text, as ("", text)."""
    if pressed in _KEYS:
        yield _KEYS[pressed], ""
        return
    if pressed.startswith(b"\x1b"):
        return  # another key that is no character
    text = ""
    for character in pressed.decode("utf-8", "ignore"):
        key = _KEYS.get(character.encode("utf-8"), "")
        if key:
            if text:
                yield "", text
            text = ""
            yield key, ""
        elif character.isprintable():
            text += character
    if text:
        yield "", text


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


@contextmanager
def _own_page(screen: Screen) -> Iterator[None]:
    """Draw on the terminal's other page, so that what was there is there afterwards."""
    screen.out.write("\x1b[?1049h")
    try:
        yield
    finally:
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
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
