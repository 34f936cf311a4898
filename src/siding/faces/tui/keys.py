"""The keys of a place: one table gives its bindings, its line of hints and its help.

A key is written as a person says it: `n`, `?`, `ctrl+p`, `alt+enter`; two keys one after the other
have a space between them (`g h`, `x x`). Only keys that every terminal can send are allowed.
Nothing here knows Textual.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from siding.ground.namedtuples import NamedTuple

SEQUENCE_S = 1.5  # how long the first key of two waits for the second one
_NAMED = frozenset(
    "enter tab shift+tab escape space backspace delete insert home end pageup pagedown "
    "up down left right alt+enter".split()
)
_FUNCTION = re.compile(r"f([1-9]|1[0-2])")
# ctrl+h is backspace, ctrl+i is tab, ctrl+m is enter, and ctrl+s may halt the terminal.
_CONTROL = re.compile(r"ctrl\+([a-gj-lnopqrt-z]|\]|\\)")
_ALT = re.compile(r"alt\+[a-z]")
# What Textual calls characters and what people call them.
_CHARACTERS = {
    "space": " ",
    "ctrl+right_square_bracket": "ctrl+]",
    "ctrl+backslash": "ctrl+\\",
    "ctrl+at": "ctrl+space",
}


class Key(NamedTuple):
    """One act of a place and the keys that begin it. The first key is the one that is shown."""

    act: str  # its name in settings; the place has a method `act_NAME`
    keys: tuple[str, ...]
    says: str  # in the help: what it does
    hint: str = ""  # in the line of hints; "": it is not there


# The keys that count in every place, unless the place has another act on the same key.
EVERYWHERE = (
    Key("palette", ("ctrl+p",), "go to a task, a place or an act by its name", "go to"),
    Key("help", ("?", "f1"), "the keys of this place; type to filter, enter runs one", "keys"),
    Key("go_home", ("g h",), "home: what waits, broke, is ready and runs"),
    Key("back", ("escape", "q"), "back to where you came from; at home, leave"),
    Key("leave", ("ctrl+q",), "leave Siding; nothing that runs ends"),
    Key("suspend", ("ctrl+z",), "stop this screen and go to the shell; `fg` comes back"),
    Key("redraw", ("ctrl+l",), "draw the screen again"),
    Key("effort", ("g e", "alt+e"), "how much the agent of the task's conversation thinks"),
)


def is_sendable(key: str) -> bool:
    """Tell whether every terminal can send a key."""
    if len(key) == 1:
        return key.isprintable() and not key.isspace()
    patterns = (_FUNCTION, _CONTROL, _ALT)
    return key in _NAMED or any(each.fullmatch(key) for each in patterns)


def spoken(key: str, character: str | None) -> str:
    """Return the key that Textual names `key`, as it is written in a table."""
    if character is not None and len(character) == 1 and character.isprintable():
        return "space" if character == " " else character
    return _CHARACTERS.get(key, key)


class KeyTable:
    """The keys of one place, with those that count everywhere and what the settings change.

    `problems` has a sentence for each setting that was not taken.
    """

    def __init__(
        self,
        place: str,
        entries: Iterable[Key],
        settings: Mapping[str, Sequence[str]] | None = None,
        everywhere: Iterable[Key] = EVERYWHERE,
    ) -> None:
        self.place = place
        self.problems: tuple[str, ...] = ()
        self.entries: tuple[Key, ...] = ()
        self._by_key: dict[str, Key] = {}
        self._first = ""
        self._first_at = 0.0
        own = tuple(entries)
        names = {each.act for each in own}
        rest = tuple(each for each in everywhere if each.act not in names)
        self._fill(own, rest, dict(settings or {}))

    def _fill(
        self, own: Sequence[Key], rest: Sequence[Key], settings: dict[str, Sequence[str]]
    ) -> None:
        for entry in (*own, *rest):
            wanted = settings.get(f"{self.place}.{entry.act}", settings.get(entry.act))
            keys = entry.keys if wanted is None else self._allowed(entry, wanted)
            # A key that is taken already stays with the first: those of the place come first.
            free = tuple(key for key in keys if not self._collides(key))
            if wanted is not None:
                self._tell(entry, [key for key in keys if key not in free], "is taken already")
            taken = entry._replace(keys=free)
            self._by_key.update((key, taken) for key in free)
            self.entries += (taken,)

    def _allowed(self, entry: Key, wanted: Sequence[str]) -> tuple[str, ...]:
        wrong = [key for key in wanted if not _is_allowed(key)]
        self._tell(entry, wrong, "cannot be sent by every terminal")
        return tuple(key for key in wanted if key not in wrong)

    def _tell(self, entry: Key, keys: Sequence[str], why: str) -> None:
        self.problems += tuple(
            f"the key {key!r} for {self.place}.{entry.act} {why}" for key in keys
        )

    def _collides(self, key: str) -> bool:
        return any(
            key == each or key.startswith(f"{each} ") or each.startswith(f"{key} ")
            for each in self._by_key
        )

    def press(self, key: str, now: float) -> Key | None:
        """Take a key; return the entry that it completes, if it completes one."""
        first, self._first = self._first, ""
        if first and now - self._first_at <= SEQUENCE_S:
            found = self._by_key.get(f"{first} {key}")
            if found is not None:
                return found
        found = self._by_key.get(key)
        if found is None and self._begins(key):
            self._first, self._first_at = key, now
        return found

    def is_waiting(self, now: float) -> str:
        """Return the first key of two, while the second one is waited for; "" otherwise."""
        return self._first if now - self._first_at <= SEQUENCE_S else ""

    def forget(self) -> None:
        """Wait for no second key any more: something else took the last key."""
        self._first = ""

    def _begins(self, key: str) -> bool:
        return any(each.startswith(f"{key} ") for each in self._by_key)

    def key_of(self, act: str) -> str:
        """Return the first key of an act; "" if it has none."""
        found = next((each for each in self.entries if each.act == act), None)
        return found.keys[0] if found is not None and found.keys else ""

    def hints(self) -> list[tuple[str, Key]]:
        """Return the entries of the line of hints, each with its words: ``enter open``."""
        return [
            (f"{each.keys[0]} {each.hint}", each)
            for each in self.entries
            if each.hint and each.keys
        ]

    def filtered(self, words: str) -> list[Key]:
        """Return the entries that have all these words in their keys, name or sentence.

        An entry with a key that is exactly what was typed comes first.
        """
        typed = words.strip()
        wanted = typed.casefold().split()
        found = [each for each in self.entries if _has(each, wanted)]
        return sorted(found, key=lambda each: typed not in each.keys)


def _is_allowed(keys: str) -> bool:
    parts = keys.split(" ")
    return 1 <= len(parts) <= 2 and all(is_sendable(each) for each in parts)


def _has(entry: Key, wanted: Sequence[str]) -> bool:
    text = " ".join((*entry.keys, entry.act.replace("_", " "), entry.says)).casefold()
    return all(word in text for word in wanted)


def fitting(labels: Sequence[str], columns: int, gap: int = 2) -> int:
    """Return how many of the labels fit side by side, the last one always among them.

    The last label leads to all keys, so it has its place first. 0 if not even that fits.
    """
    if not labels or len(labels[-1]) > columns:
        return 0
    used, count = len(labels[-1]), 1
    for label in labels[:-1]:
        used += len(label) + gap
        if used > columns:
            break
        count += 1
    return count
