"""What is said to the terminal beside the screen: the clipboard, the title. No answer comes."""

import base64
from collections.abc import Mapping
from enum import StrEnum

from siding.ground.multiplexer import wrapped

_MOST_COPIED = 100_000  # bytes: terminals drop longer sequences, some of them without a word


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
        self._env = env

    def copied(self, text: str) -> str | None:
        """Return what puts a text on the clipboard; None if it is too long for it."""
        data = text.encode("utf-8", "replace")
        if len(data) > _MOST_COPIED:
            return None
        said = f"\x1b]52;c;{base64.b64encode(data).decode('ascii')}\x07"
        # With `set-clipboard on` tmux takes it as it is; wrapped it goes to the terminal itself.
        return (said if self._env.get("TMUX") else "") + wrapped(said, self._env)

    def title(self, waiting: int) -> str:
        """Return what names the window: how many wait, so that a tab in the background says so."""
        return f"\x1b]2;{f'({waiting}) ' if waiting else ''}siding\x07"
