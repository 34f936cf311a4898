"""What is said to the terminal beside the screen: the bell, a notice, the clipboard, the title.

A multiplexer passes on the bell and the title by itself; of tmux, notices come through only if
they are wrapped, and screen passes on what is wrapped too. Nothing here waits for an answer.
"""

import base64
from collections.abc import Mapping
from enum import StrEnum

_MOST_COPIED = 100_000  # bytes: terminals drop longer sequences, some of them without a word
_WRAPPED = 250  # bytes a piece: screen forgets a sequence that is longer


class Eyes(StrEnum):
    """Whether a person looks at this screen."""

    UNKNOWN = "unknown"  # the terminal has not said; counts as away
    HERE = "here"
    AWAY = "away"

    @property
    def focused(self) -> bool | None:
        """The same as the feed is told it."""
        return None if self is Eyes.UNKNOWN else self is Eyes.HERE


class Outer:
    """Makes the sequences for the terminal that `env` describes."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._is_tmux = bool(env.get("TMUX"))
        self._is_screen = not self._is_tmux and bool(env.get("STY"))

    def notice(self, title: str, text: str) -> str:
        """Return a notice of the desktop, as far as the terminal has some, and the bell."""
        title, text = _clean(title), _clean(text)
        # OSC 9 shows one line; OSC 777 has a title. A terminal that knows neither drops both.
        said = f"\x1b]9;{title}: {text}\x07\x1b]777;notify;{_field(title)};{text}\x07"
        return self._passed(said) + "\x07"

    def copied(self, text: str) -> str | None:
        """Return what puts a text on the clipboard; None if it is too long for it."""
        data = text.encode("utf-8", "replace")
        if len(data) > _MOST_COPIED:
            return None
        said = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\x07"
        # With `set-clipboard on` tmux takes it as it is; wrapped it goes to the terminal itself.
        return said + self._passed(said) if self._is_tmux else self._passed(said)

    def title(self, waiting: int) -> str:
        """Return what names the window: how many wait, so that a tab in the background says so."""
        return f"\x1b]2;{f'({waiting}) ' if waiting else ''}siding\x07"

    def _passed(self, said: str) -> str:
        if self._is_tmux:
            return f"\x1bPtmux;{said.replace(chr(27), chr(27) * 2)}\x1b\\"
        if self._is_screen:
            pieces = [said[at : at + _WRAPPED] for at in range(0, len(said), _WRAPPED)]
            return "".join(f"\x1bP{each}\x1b\\" for each in pieces)
        return said


def _clean(text: str) -> str:
    """Leave out control characters: they would end the sequence, and begin another one."""
    return "".join(each for each in text if each.isprintable())


def _field(text: str) -> str:
    return text.replace(";", ",")
