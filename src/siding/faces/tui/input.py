"""The filter between the terminal and the parser of keys.

A terminal sends keys, pastes and replies in one stream, in pieces cut anywhere. Three things hold,
wherever the cuts are. What is pasted is one text and never a key, also where it holds escapes. A
reply is never a letter. Nothing swallows what is typed for longer than a moment.

Nothing here knows Textual: what is to be parsed as keys comes out as `Sequence`s, each whole.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from siding.ground.namedtuples import NamedTuple

_ESC = "\x1b"
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_ALONE_S = 0.05  # a sequence follows its escape at once; a person does not
_UNFINISHED_S = 0.5  # what is surely a sequence: the line may be slow
_PASTE_S = 2.0  # without anything more of it
_MOST_PASTED = 32_000_000  # characters
_MOST_HELD = 1_000_000  # of a reply that does not end
# What may still become a sequence with what comes; a sequence; what will never be one.
_OPENS_SEQUENCE = "[O]P_^X"
_BEGUN = re.compile(
    r"\x1b(?:\[(?:\[|M.{0,2}|[0-?]*[ -/]*)|O[0-9]?|[]P_^X]"
    r"|(?:\][0-9lLI]|P[0-9>!$+|]|_G)[^\x07\x1b]*\x1b?)",
    re.DOTALL,
)
_WHOLE = re.compile(
    r"\x1b(?:\[(?:\[.|M...|[0-?]*[ -/]*[@-~])|O[0-9]?[ -~]"
    r"|(?:\][0-9lLI]|P[0-9>!$+|]|_G)[^\x07\x1b]*(?:\x07|\x1b\\))",
    re.DOTALL,
)
_BROKEN = re.compile(
    r"\x1b(?:\[[0-?]+[ -/]*|\[[ -/]+|O[0-9]|(?:\][0-9lLI]|P[0-9>!$+|]|_G)[^\x07\x1b]*)"
)
_FOCUS = re.compile(r"\x1b\[[IO]")
_OTHER_KEY = re.compile(r"\x1b\[27;([0-9]+);([0-9]+)~")
_WITH_EVENT = re.compile(r"(\x1b\[[0-9:]*;[0-9]*):([0-9]+)((?:;[0-9:]*)?[u~A-Z])")
_RELEASED = "3"
_CONTROLS = re.compile("[\x80-\x9f]")


class Sequence(NamedTuple):
    """Characters, or one whole sequence, that the parser makes keys of."""

    text: str


class Pressed(NamedTuple):
    """A key by its name: what the parser would take for another one."""

    key: str


class Pasted(NamedTuple):
    """A whole paste. Its control characters are to be shown, never obeyed."""

    text: str


class Reply(NamedTuple):
    """What the terminal answered or told of itself, as it came."""

    text: str


Piece: TypeAlias = Sequence | Pressed | Pasted | Reply


class Filter:
    """Takes what was read and gives pieces. `is_key` knows the sequences that are keys or mouse."""

    def __init__(self, is_key: Callable[[str], bool]) -> None:
        self._is_key = is_key
        self._held = ""
        self._pasted: list[str] | None = None  # of a paste that has begun
        self._at = 0.0  # when the last characters came

    def feed(self, data: str, now: float) -> list[Piece]:
        """Take characters; return what is whole by now."""
        pieces = self.tick(now)
        self._at = now
        self._held += data
        self._take(pieces)
        return pieces

    def tick(self, now: float) -> list[Piece]:
        """Return what is complete because nothing more came of it."""
        pieces: list[Piece] = []
        wait = self.wait_s(now)
        if wait is None or wait > 0:
            return pieces
        if self._pasted is not None:
            self._end_paste(pieces, self._held)
            self._held = ""
            return pieces
        begun, self._held = self._held, ""
        if begun == _ESC:
            pieces.append(Pressed("escape"))
        elif len(begun) == 2:
            pieces.append(_with_alt(begun[1]))
        elif begun:
            pieces.append(Reply(begun))  # the rest of it got lost
        return pieces

    def wait_s(self, now: float) -> float | None:
        """Return how long to wait at most before `tick`; None: for ever."""
        if self._pasted is not None:
            return self._at + _PASTE_S - now
        if not self._held:
            return None
        most = _ALONE_S if len(self._held) <= 2 else _UNFINISHED_S
        return self._at + most - now

    def _take(self, pieces: list[Piece]) -> None:
        while self._held:
            if self._pasted is not None:
                if not self._take_pasted(pieces):
                    return
                continue
            at = self._held.find(_ESC)
            if at != 0:
                typed = self._held if at < 0 else self._held[:at]
                self._held = self._held[len(typed) :]
                typed = _CONTROLS.sub("", typed)
                if typed:
                    pieces.append(Sequence(typed))
                continue
            if not self._take_sequence(pieces):
                return

    def _take_pasted(self, pieces: list[Piece]) -> bool:
        """Take more of a paste; return whether it is over."""
        assert self._pasted is not None
        end = self._held.find(_PASTED)
        if end >= 0:
            text, self._held = self._held[:end], self._held[end + len(_PASTED) :]
            self._end_paste(pieces, text)
            return True
        # The end mark may be cut: what could be its beginning stays.
        keep = next(
            (n for n in range(len(_PASTED) - 1, 0, -1) if self._held.endswith(_PASTED[:n])), 0
        )
        split = len(self._held) - keep
        self._pasted.append(self._held[:split])
        self._held = self._held[split:]
        if sum(map(len, self._pasted)) > _MOST_PASTED:
            self._end_paste(pieces, "")
            return True
        return False

    def _end_paste(self, pieces: list[Piece], rest: str) -> None:
        text = "".join([*(self._pasted or ()), rest])
        self._pasted = None
        # A terminal says that it lost the focus whenever it does, also between two pieces.
        pieces.append(Pasted(_FOCUS.sub("", text).replace("\0", "")))
        pieces += [Sequence(found[0]) for found in _FOCUS.finditer(text)]

    def _take_sequence(self, pieces: list[Piece]) -> bool:
        """Take one sequence; return whether it is whole. It begins with an escape."""
        held = self._held
        second = held[1:2]
        if second in _OPENS_SEQUENCE and (len(held) == 1 or _BEGUN.fullmatch(held)):
            return len(held) > _MOST_HELD and self._cut(len(held), Reply(held), pieces)
        if second == _ESC:
            return self._cut(1, Pressed("escape"), pieces)
        found = _WHOLE.match(held)
        if found is None:
            broken = _BROKEN.match(held)
            if broken is None:
                return self._cut(2, _with_alt(second), pieces)
            # Another sequence or a control came before its end: the rest of it is lost.
            return self._cut(broken.end(), Reply(broken[0]), pieces)
        text = found[0]
        self._held = held[found.end() :]
        if text == _PASTE:
            self._pasted = []
        elif second in "[O":
            # An end without a beginning is of a paste that was given up.
            pieces += self._of_control(text) if text != _PASTED else []
        else:
            pieces.append(Reply(text))
        return True

    def _cut(self, size: int, piece: Piece, pieces: list[Piece]) -> bool:
        self._held = self._held[size:]
        pieces.append(piece)
        return True

    def _of_control(self, text: str) -> list[Piece]:
        other = _OTHER_KEY.fullmatch(text)
        if other is not None:
            text = f"\x1b[{other[2]};{other[1]}u"
        event = _WITH_EVENT.fullmatch(text)
        if event is not None:
            if event[2] == _RELEASED:
                return []
            text = event[1] + event[3]
        return [Sequence(text)] if self._is_key(text) else [Reply(text)]


def _with_alt(character: str) -> Pressed:
    """Return the key of a character that had an escape before it."""
    if character in "\r\n":
        return Pressed("alt+enter")
    if character in "\x7f\b":
        return Pressed("ctrl+w")  # the word before the cursor goes, as in a shell
    if character == "\t":
        return Pressed("alt+tab")
    if character < " ":
        return Pressed(f"alt+ctrl+{chr(ord(character) | 0x60)}")
    return Pressed(f"alt+{character}")
