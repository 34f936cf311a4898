"""Search lines that a program printed, a window of a file at a time. Pure, but for reading.

What is searched is what is drawn of a line, so colours inside a word and a line that was started
over hide nothing and add nothing. Drawing all lines of a gigabyte would take minutes: bytes that
cannot hold what is wanted are passed over as they are, and only the others are drawn.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

from siding.faces.tui.rows.lines import hits
from siding.faces.tui.rows.output import FileLines, Window, unseen_left_out, whole_text
from siding.faces.tui.text import LEFT_OUT, SPELLED
from siding.ground.namedtuples import NamedTuple

_USUAL = bytes((*b"\t\n\r", *range(0x20, 0x7F)))  # drawn as they are, but for tabs
_OF_SPELLED = frozenset("\\xu0123456789abcdef")  # what \x1b and \u202e are spelled with
_KELVIN = "\N{KELVIN SIGN}"  # the one character of others whose lower case is ASCII


class Wanted:
    """What is looked for in lines. One that may not have it is told by its bytes.

    `place_in` returns where in the text of a line it is, or -1. A line where it is has one of the
    `texts`, which are in lower case, or as they are where the line has no lower case of its length.
    """

    def __init__(self, texts: Sequence[str], place_in: Callable[[str], int]) -> None:
        self.place_in = place_in
        self._texts = tuple(texts)
        self._needles = tuple(each.encode("utf-8", "surrogateescape").lower() for each in texts)
        # Bytes are folded as ASCII is. Others that have two cases are compared as characters.
        self._is_folded = all(_has_one_case(each) for each in texts)
        self._has_k = any("k" in each for each in texts)
        self._has_space = any(" " in each for each in texts)
        self._may_be_spelled = any("\\" in each or each[0] in _OF_SPELLED for each in texts)

    def may_be_in(self, data: bytes) -> bool:
        """Tell whether some line of these bytes may have it; False is sure."""
        folded = data.lower()
        if any(each in folded for each in self._needles):
            return True
        if b"\x1b" in data or b"\x07" in data:
            data = unseen_left_out(data)
            folded = data.lower()
            if any(each in folded for each in self._needles):
                return True
        if self._has_space and b"\t" in data:
            return True
        others = data.translate(None, _USUAL)
        return bool(others) and self._may_be_odd(data, others)

    def _may_be_odd(self, data: bytes, others: bytes) -> bool:
        """Tell whether it may be in what is drawn for bytes that are not plain ASCII."""
        try:
            text = data.decode()
            odd = set(others.decode())
        except UnicodeDecodeError:  # drawn as \xff
            if self._may_be_spelled:
                return True
            text = data.decode("utf-8", "replace")
            odd = set(text)
        if self._may_be_spelled and not SPELLED.isdisjoint(odd):
            return True
        if (self._has_k and _KELVIN in odd) or not LEFT_OUT.isdisjoint(odd):
            return True
        if self._is_folded:
            return False
        low = text.lower()
        return any(each in low for each in self._texts)


def word(wanted: str) -> Wanted:
    """Return what finds a word as it is highlighted: without regard to case."""

    def place_in(text: str) -> int:
        found = hits(text, wanted)
        return found[0].start if found else -1

    return Wanted([wanted.lower(), wanted], place_in)


def pattern(expression: re.Pattern[str], texts: Sequence[str]) -> Wanted:
    """Return what finds an expression. It matches no line without one of the texts."""

    def place_in(text: str) -> int:
        found = expression.search(text)
        return -1 if found is None else found.start()

    return Wanted(texts, place_in)


def _has_one_case(text: str) -> bool:
    return all(each.isascii() or each.lower() == each.upper() for each in text)


class Leg(NamedTuple):
    """Lines that are searched one after the other. `item` is that of the line with number 0."""

    lines: FileLines
    numbers: range  # with a step of 1 or -1
    item: int


class Hit(NamedTuple):
    """Where something was found: an item, and the place in the text of its line."""

    item: int
    place: int


class Search:
    """A search that is carried out in slices. `go_on` does one of them."""

    def __init__(self, wanted: Wanted, legs: Sequence[Leg]) -> None:
        self._wanted = wanted
        self.total = sum(_size(each) for each in legs)
        self.done = 0  # bytes
        self.has_ended = False
        self._rest = self._search(legs)

    def go_on(self, seconds: float) -> Hit | None:
        """Search for so long; return the next hit. None: `has_ended`, or it takes longer."""
        end = perf_counter() + seconds
        for found in self._rest:
            if found is not None:
                return found
            if perf_counter() >= end:
                return None
        self.has_ended = True
        return None

    def _search(self, legs: Sequence[Leg]) -> Iterator[Hit | None]:
        """Yield the hits, and None after each window."""
        for leg in legs:
            for window in leg.lines.windows(leg.numbers):
                found = leg.lines.window(window)
                if self._wanted.may_be_in(found.data + found.beyond):
                    for number, place in self._hits(found, leg.numbers):
                        yield Hit(leg.item + number, place)
                self.done += len(found.data)
                yield None

    def _hits(self, window: Window, numbers: range) -> Iterator[tuple[int, int]]:
        """Yield the lines of a window that have it, each with the place in its text."""
        parts = window.data.removesuffix(b"\n").split(b"\n")
        within = range(len(parts))
        for at in within if numbers.step > 0 else reversed(within):
            number = window.first + at
            if number not in numbers:
                continue
            beyond = window.beyond if at + 1 == len(parts) else b""
            if self._wanted.may_be_in(parts[at] + beyond):
                place = self._wanted.place_in(whole_text(parts[at] + beyond))
                if place >= 0 and (not beyond or place < len(whole_text(parts[at]))):
                    yield number, place


def _size(leg: Leg) -> int:
    return leg.lines.size_of(leg.numbers)
