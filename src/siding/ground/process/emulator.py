"""Draw output on a screen, as a terminal of the VT and xterm kind does.

The output is taken apart into text, control characters and sequences. Known are the movements of
the cursor, erasing, inserting and deleting, the scrolling region, the alternate screen, tabs, the
line-drawing characters and wide characters. Colours, titles and questions are passed over. The
screen is meant for the end of what a program printed: it draws about a megabyte in two seconds.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from unicodedata import category, east_asian_width

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import WindowSize
from siding.ground.process.emulator_grid import Grid

_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<parameters>[0-?]{0,100})(?P<between>[ -/]*)(?P<csi>[@-~])"
    r"|(?P<string>\x1b[\]PX^_][^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\|[\x18\x1a]|(?=\x1b)))"
    r"|\x1b(?P<charset>[()*+#%])(?P<which>[0-~])"
    r"|\x1b(?P<escape>[0-OQ-WYZ\\`-~])"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])",
    re.DOTALL,
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x18\x1a]*\x1b?|[()*+#%])?\Z")
_MOST = 9999
_PAST_LINES = 2000
_TAB = 8
_LINES_FROM = "`afgijklmnopqrstuvwxyz{|}~"
_LINE_DRAWING = str.maketrans(_LINES_FROM, "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")
_MOST_EFFORT = 1_000_000  # in characters that are drawn
_COSTLY = frozenset("@JLMPST")  # sequences that move or erase more than a line
_ALTERNATE = frozenset({47, 1047, 1049})
_ZERO_WIDTH = frozenset({"Mn", "Me", "Cf"})  # marks above a character, joiners
_SOFT_HYPHEN = "\u00ad"


class Token(NamedTuple):
    """A piece of output.

    `kind` is "text" or "control" with the characters in `text`; "csi" with its last character
    there; "escape" and "charset", whose `marks` is the character between; the last one of a
    string (a title, say) is not kept.
    """

    kind: str
    text: str
    marks: str = ""  # of a sequence: "?" or ">" before its numbers, and what stands behind them
    numbers: tuple[int, ...] = ()

    def number(self, place: int = 0, usual: int = 1) -> int:
        """Return a number of a sequence; `usual` if it is missing or 0."""
        return self.numbers[place] or usual if place < len(self.numbers) else usual


def tokens(text: str) -> Iterator[Token]:
    """Yield the pieces of output; an unfinished sequence at its end is left out."""
    position = 0
    while found := _TOKEN.match(text, position):
        kind, position = found.lastgroup, found.end()
        if found["csi"]:
            marks = re.sub(r"[0-9;:]", "", found["parameters"]) + found["between"]
            numbers = tuple(_numbers(found["parameters"]))
            yield Token("csi", found["csi"], marks=marks, numbers=numbers)
        elif kind == "which":
            yield Token("charset", found["which"], marks=found["charset"])
        elif kind == "control" and found["control"] == "\x1b":
            if _UNFINISHED.match(text, found.start()):
                return
        elif kind in ("text", "control", "escape"):
            yield Token(kind, found[kind])


def _numbers(parameters: str) -> Iterator[int]:
    for each in re.split("[;:]", parameters.lstrip("<=>?")):
        yield min(_MOST, int(each[:5])) if each.isdigit() else 0


class _Saved(NamedTuple):
    """What DECSC keeps."""

    y: int = 0
    x: int = 0
    origin: bool = False
    charsets: tuple[str, str] = ("B", "B")
    shift: int = 0


class TextScreen:
    """A terminal of a size. `feed` draws; `lines` is what is on the screen then."""

    def __init__(self, size: WindowSize) -> None:
        self.size = WindowSize(rows=max(1, size.rows), columns=max(2, size.columns))
        self._effort = 0
        self._costs = 1 + self.size.rows * self.size.columns // 64
        self._reset()

    def feed(self, text: str) -> None:
        """Draw output. Whole output is expected: an unfinished sequence at its end is lost.

        Output that was made to take long, by sequences that change the whole screen, is drawn to
        where it has taken a second.
        """
        for token in tokens(text):
            if self._effort > _MOST_EFFORT:
                return
            if token.kind == "text":
                self._write(token.text)
                continue
            if token.text != "b":
                self._last = ""
            if token.kind == "control":
                self._control(token.text)
            elif token.kind == "csi":
                self._sequence(token)
            elif token.kind == "escape":
                self._escape(token.text)
            else:
                self._choose_charset(token)

    def lines(self) -> list[str]:
        """Return the rows of the screen, without blanks at their ends."""
        return self._grid.lines()

    def past_lines(self) -> list[str]:
        """Return the rows that left the screen at its top."""
        return self._grid.past_lines()

    def _reset(self) -> None:
        self._main = Grid(self.size, history=_PAST_LINES)
        self._alternate = Grid(self.size)
        self._grid = self._main
        self._y = self._x = 0
        self._wraps_next = False  # the last column was written; the next character wraps
        self._wraps = True
        self._origin = False
        self._inserts = False
        self._charsets = ["B", "B"]
        self._shift = 0
        self._saved = _Saved()
        self._left_at = _Saved()  # where the cursor was when the alternate screen was entered
        self._tabs = set(range(0, self.size.columns, _TAB))
        self._last = ""  # the last character, which REP repeats

    # Text

    def _write(self, text: str) -> None:
        self._effort += len(text)
        if self._charsets[self._shift] == "0":
            text = text.translate(_LINE_DRAWING)
        for character in text:
            self._put(character)

    def _put(self, character: str) -> None:
        columns, last_column = width(character), self.size.columns - 1
        if columns == 0:
            self._grid.join(
                self._y, self._x if self._wraps_next else max(0, self._x - 1), character
            )
            return
        if self._wraps_next or self._x + columns > self.size.columns:
            if self._wraps:
                self._x = 0
                self._line_feed()
            else:
                self._x = self.size.columns - columns
            self._wraps_next = False
        if self._inserts:
            self._grid.insert_cells(self._y, self._x, columns)
        self._grid.put(self._y, self._x, character, columns)
        self._last = character
        self._x += columns
        if self._x > last_column:
            self._x, self._wraps_next = last_column, self._wraps

    def _control(self, character: str) -> None:
        if character == "\r":
            self._move(self._y, 0)
        elif character in "\n\v\f\x84":
            self._line_feed()
        elif character == "\b":
            self._move(self._y, self._x - 1)
        elif character == "\t":
            self._tab(1)
        elif character in "\x0e\x0f":
            self._shift = 1 if character == "\x0e" else 0
        elif character == "\x85":
            self._escape("E")
        elif character == "\x8d":
            self._escape("M")

    def _line_feed(self) -> None:
        self._wraps_next = False
        if self._y == self._grid.bottom:
            self._grid.scroll_up(1)
        elif self._y < self.size.rows - 1:
            self._y += 1

    def _tab(self, count: int) -> None:
        later = sorted(column for column in self._tabs if column > self._x)
        self._move(self._y, later[count - 1] if count <= len(later) else self.size.columns - 1)

    def _tab_back(self, count: int) -> None:
        before = sorted(column for column in self._tabs if column < self._x)
        self._move(self._y, before[-count] if count <= len(before) else 0)

    # The cursor

    def _move(self, y: int, x: int) -> None:
        self._y = min(max(0, y), self.size.rows - 1)
        self._x = min(max(0, x), self.size.columns - 1)
        self._wraps_next = False

    def _move_to(self, y: int, x: int) -> None:
        """Move to a place that a program names; with origin mode, one in the scrolling region."""
        if self._origin:
            y = min(y + self._grid.top, self._grid.bottom)
        self._move(y, x)

    def _up(self, count: int) -> None:
        limit = self._grid.top if self._y >= self._grid.top else 0
        self._move(max(limit, self._y - count), self._x)

    def _down(self, count: int) -> None:
        limit = self._grid.bottom if self._y <= self._grid.bottom else self.size.rows - 1
        self._move(min(limit, self._y + count), self._x)

    def _place(self) -> _Saved:
        charsets = (self._charsets[0], self._charsets[1])
        return _Saved(self._y, self._x, self._origin, charsets, self._shift)

    def _next_lines(self, token: Token) -> None:
        self._down(token.number())
        self._move(self._y, 0)

    def _lines_before(self, token: Token) -> None:
        self._up(token.number())
        self._move(self._y, 0)

    def _save(self, _token: Token | None = None) -> None:
        self._saved = self._place()

    def _restore(self, _token: Token | None = None) -> None:
        self._go_back(self._saved)

    def _go_back(self, saved: _Saved) -> None:
        self._origin, self._shift = saved.origin, saved.shift
        self._charsets = list(saved.charsets)
        self._move(saved.y, saved.x)

    # Sequences

    def _escape(self, final: str) -> None:
        if final == "c":
            self._effort += self._costs
            self._reset()
        elif final in "78":
            (self._save if final == "7" else self._restore)()
        elif final == "D":
            self._line_feed()
        elif final == "E":
            self._move(self._y, 0)
            self._line_feed()
        elif final == "M":
            self._reverse_line_feed()
        elif final == "H":
            self._tabs.add(self._x)

    def _reverse_line_feed(self) -> None:
        self._wraps_next = False
        if self._y == self._grid.top:
            self._grid.scroll_down(1)
        elif self._y > 0:
            self._y -= 1

    def _choose_charset(self, token: Token) -> None:
        if token.marks in "()":
            self._charsets[token.marks == ")"] = token.text
        elif (token.marks, token.text) == ("#", "8"):
            self._effort += self._costs
            self._grid.fill("E")
            self._move(0, 0)

    def _sequence(self, token: Token) -> None:
        if token.marks == "":
            act = _ACTS.get(token.text)
            if act is not None:
                self._effort += self._costs if token.text in _COSTLY else 1
                act(self, token)
        elif token.marks == "?" and token.text in "hl":
            for number in token.numbers:
                self._private_mode(number, is_on=token.text == "h")
        elif token.marks == "?" and token.text in "JK":
            _ACTS[token.text](self, token)
        elif (token.marks, token.text) == ("!", "p"):
            self._soft_reset()

    def _soft_reset(self) -> None:
        self._origin = self._inserts = False
        self._wraps = True
        self._charsets = ["B", "B"]
        self._shift = 0
        self._grid.top, self._grid.bottom = 0, self.size.rows - 1
        self._saved = _Saved()

    def _private_mode(self, number: int, *, is_on: bool) -> None:
        if number == 6:
            self._origin = is_on
            self._move_to(0, 0)
        elif number == 7:
            self._wraps = is_on
        elif number == 1048:
            (self._save if is_on else self._restore)()
        elif number in _ALTERNATE:
            self._switch(number, is_on=is_on)

    def _switch(self, number: int, *, is_on: bool) -> None:
        """Go to the alternate screen or back. It is blank at first; 1049 keeps the cursor."""
        self._effort += self._costs
        if is_on and self._grid is self._main:
            self._left_at = self._place()
            self._alternate = Grid(self.size)
            self._alternate.top, self._alternate.bottom = self._main.top, self._main.bottom
            self._grid = self._alternate
        elif not is_on and self._grid is self._alternate:
            self._main.top, self._main.bottom = self._alternate.top, self._alternate.bottom
            self._grid = self._main
            if number == 1049:
                self._go_back(self._left_at)
        self._wraps_next = False

    def _mode(self, token: Token) -> None:
        if 4 in token.numbers:
            self._inserts = token.text == "h"

    def _erase_display(self, token: Token) -> None:
        how = token.number(usual=0)
        if how == 0:
            self._grid.erase(self._y, self._x, self.size.columns)
            self._grid.erase_rows(self._y + 1, self.size.rows)
        elif how == 1:
            self._grid.erase_rows(0, self._y)
            self._grid.erase(self._y, 0, self._x + 1)
        elif how == 2:
            self._grid.erase_rows(0, self.size.rows)
        elif how == 3:
            self._grid.history.clear()
        self._wraps_next = False

    def _erase_line(self, token: Token) -> None:
        whole = self.size.columns
        spans = {0: (self._x, whole), 1: (0, self._x + 1), 2: (0, whole)}
        self._grid.erase(self._y, *spans.get(token.number(usual=0), (0, 0)))
        self._wraps_next = False

    def _margins(self, token: Token) -> None:
        top = token.number() - 1
        bottom = min(token.number(1, self.size.rows), self.size.rows) - 1
        if top < bottom:
            self._grid.top, self._grid.bottom = top, bottom
            self._move_to(0, 0)

    def _insert_cells(self, token: Token) -> None:
        self._grid.insert_cells(self._y, self._x, token.number())
        self._wraps_next = False

    def _delete_cells(self, token: Token) -> None:
        self._grid.delete_cells(self._y, self._x, token.number())
        self._wraps_next = False

    def _insert_rows(self, token: Token) -> None:
        self._grid.insert_rows(self._y, token.number())
        self._wraps_next = False

    def _delete_rows(self, token: Token) -> None:
        self._grid.delete_rows(self._y, token.number())
        self._wraps_next = False

    def _erase_cells(self, token: Token) -> None:
        self._grid.erase(self._y, self._x, self._x + token.number())
        self._wraps_next = False

    def _repeat(self, token: Token) -> None:
        last, self._last = self._last, ""
        for _ in range(min(token.number(), self.size.columns) if last else 0):
            self._put(last)
            self._effort += 1

    def _clear_tabs(self, token: Token) -> None:
        if token.number(usual=0) == 3:
            self._tabs.clear()
        else:
            self._tabs.discard(self._x)


_ACTS: dict[str, Callable[[TextScreen, Token], None]] = {
    "@": TextScreen._insert_cells,
    "A": lambda screen, token: screen._up(token.number()),
    "B": lambda screen, token: screen._down(token.number()),
    "C": lambda screen, token: screen._move(screen._y, screen._x + token.number()),
    "D": lambda screen, token: screen._move(screen._y, screen._x - token.number()),
    "E": TextScreen._next_lines,
    "F": TextScreen._lines_before,
    "G": lambda screen, token: screen._move(screen._y, token.number() - 1),
    "H": lambda screen, token: screen._move_to(token.number() - 1, token.number(1) - 1),
    "I": lambda screen, token: screen._tab(token.number()),
    "J": TextScreen._erase_display,
    "K": TextScreen._erase_line,
    "L": TextScreen._insert_rows,
    "M": TextScreen._delete_rows,
    "P": TextScreen._delete_cells,
    "S": lambda screen, token: screen._grid.scroll_up(token.number()),
    "T": lambda screen, token: screen._grid.scroll_down(token.number()),
    "X": TextScreen._erase_cells,
    "Z": lambda screen, token: screen._tab_back(token.number()),
    "`": lambda screen, token: screen._move(screen._y, token.number() - 1),
    "a": lambda screen, token: screen._move(screen._y, screen._x + token.number()),
    "b": TextScreen._repeat,
    "d": lambda screen, token: screen._move_to(token.number() - 1, screen._x),
    "e": lambda screen, token: screen._down(token.number()),
    "f": lambda screen, token: screen._move_to(token.number() - 1, token.number(1) - 1),
    "g": TextScreen._clear_tabs,
    "h": TextScreen._mode,
    "l": TextScreen._mode,
    "r": TextScreen._margins,
    "s": TextScreen._save,
    "u": TextScreen._restore,
}


@lru_cache(maxsize=4096)
def width(character: str) -> int:
    """Return 0, 1 or 2, as wcwidth(3) has it in a UTF-8 locale."""
    if character < "\u0300":
        return 1
    if category(character) in _ZERO_WIDTH and character != _SOFT_HYPHEN:
        return 0
    if "\u1160" <= character <= "\u11ff":  # the second and third part of a Korean syllable
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
