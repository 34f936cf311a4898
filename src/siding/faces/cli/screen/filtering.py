"""Let a person choose one line of many: typing filters, arrows move, Enter takes, Esc leaves."""

import os
from collections.abc import Sequence

from siding.faces.cli.screen.keys import BACK, CLEAR, DOWN, ENTER, LEAVE, UP, Gone, own_page
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.ground.namedtuples import NamedTuple


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
