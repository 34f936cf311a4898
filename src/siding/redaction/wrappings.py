"""Find secrets that something interrupts or spells differently, by reading them without it.

A colour or an invisible character inside a word, a line that a program wrapped at the edge of a
terminal, letters as escapes (``\\u0067``, ``%67``), and UTF-16: each is undone in a copy of the
bytes around it. The rules are applied to the copy, and what they find counts in the original.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from siding.namedtuples import NamedTuple
from siding.redaction.formats import STARTS
from siding.redaction.wide_lines import WIDTH, has_wide_lines, is_wrap

_BEFORE = 256  # bytes before an interruption that are read with it
_BEHIND = 1024
_NAME = 48
_COLOUR = rb"\x1b\[[0-9;]{0,16}[mK]"
_LETTER = rb"(?:2[Dd]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9Aa])"  # hexadecimal
# What is undone, with a literal first: such a search runs in C.
_INTERRUPTIONS = tuple(
    (first, re.compile(pattern))
    for first, pattern in (
        (
            b"\x1b",
            rb"\x1b(?<=[A-Za-z0-9_-]\x1b)(?<![0-9\[][mK]\x1b)\[[0-9;]{0,16}[mK](?:"
            + _COLOUR
            + rb")*+(?=[A-Za-z0-9_-])",
        ),
        (b"\xe2", rb"\xe2(?<=[A-Za-z0-9_-]\xe2)(?:\x80[\x8b-\x8f]|\x81[\xa0-\xa4])"),
        (b"\xef", rb"\xef(?<=[A-Za-z0-9_-]\xef)\xbb\xbf"),
        (b"\xc2", rb"\xc2(?<=[A-Za-z0-9_-]\xc2)\xad"),
        (b"\\", rb"\\(?:u00|x)" + _LETTER),
        (b"%", rb"%" + _LETTER),
    )
)
_UNDONE = re.compile(
    rb"(?:" + _COLOUR + rb")++|(?:\xe2\x80[\x8b-\x8f]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad)++"
    rb"|(?:\\u00|\\x|%)(" + _LETTER + rb")|(\r?\n)"
)
_LINE = re.compile(rb"\n[^\n]{%d}(?=\r?\n[A-Za-z0-9_+/=-])(?<=[A-Za-z0-9_+/=-])" % WIDTH)
_NAMED = frozenset(b":=>rRcC")  # before a value: a separator, or the end of Bearer and Basic
_ASSIGNS = re.compile(rb"[=:\"']")
_WIDE = re.compile(rb"(?:[\t\n\r -~]\x00){8,}+")


class Reading(NamedTuple):
    """A copy, `text`, of ``data[start:end]`` in which something is undone.

    `step`: so many bytes of the data are one of the copy. `at`: the offsets in the copy where
    something was undone; `ahead`: how much further on the data is from there; `letter`: whether the
    byte before the offset was decoded there, not something removed.
    """

    start: int
    end: int
    text: bytes
    step: int = 1
    at: tuple[int, ...] = ()
    ahead: tuple[int, ...] = ()
    letter: tuple[bool, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span of the copy is in the data."""
        first = bisect_right(self.at, start)
        last = bisect_left(self.at, end)
        if last < len(self.at) and self.at[last] == end and self.letter[last]:
            last += 1
        return (
            self.start + start * self.step + (self.ahead[first - 1] if first else 0),
            self.start + end * self.step + (self.ahead[last - 1] if last else 0),
        )

    def undoes(self, start: int, end: int) -> bool:
        """Return whether something was undone within a span of the copy, or in a name before it."""
        return self.step > 1 or bisect_right(self.at, end) > bisect_right(self.at, start - _NAME)


def readings(data: bytes) -> Iterator[Reading]:
    """Yield a reading of each part of `data` in which something can be undone."""
    for start, end in _parts(data):
        yield _undone(data, start, end)
    if b"\x00" in data:
        for found in _WIDE.finditer(data):
            yield Reading(found.start(), found.end(), found[0][::2], step=2)


def _parts(data: bytes) -> list[tuple[int, int]]:
    """Return the parts of the data that have an interruption, apart and in order."""
    found = [
        match.span()
        for first, pattern in _INTERRUPTIONS
        if first in data
        for match in pattern.finditer(data)
    ]
    found += _wraps(data)
    found.sort()
    parts: list[tuple[int, int]] = []
    for start, end in found:
        if parts and end <= parts[-1][1]:
            continue
        begin = max(data.rfind(b"\n", max(0, start - _BEFORE), start) + 1, start - _BEFORE, 0)
        behind = data.find(b"\n", end + 1, end + _BEHIND)
        stop = behind if behind >= 0 else min(len(data), end + _BEHIND)
        if parts and begin <= parts[-1][1]:
            parts[-1] = (parts[-1][0], stop)
        else:
            parts.append((begin, stop))
    return parts


def _wraps(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield each line break within a word that may be a secret."""
    if not has_wide_lines(data):
        return
    last = 0
    for found in _LINE.finditer(data):
        start, end = found.start() + 1, found.end()
        word = max(data.rfind(b" ", start, end), data.rfind(b"\t", start, end)) + 1
        if (
            data[word - 2] in _NAMED
            or data[word : word + 3] in STARTS
            or _ASSIGNS.search(data, word, end)
            if word > start
            else last == start or data[start : start + 3] in STARTS
        ):
            last = end + 1 + (data[end] == 0x0D)
            yield end, last


def _undone(data: bytes, start: int, end: int) -> Reading:
    pieces, at, ahead, letters = [], [], [], []
    done, gone = start, 0
    for found in _UNDONE.finditer(data, start, end):
        letter = found[1]
        if found[2] is not None and not is_wrap(data, found.start()):
            continue
        pieces.append(data[done : found.start()])
        done = found.end()
        gone += done - found.start()
        if letter is not None:
            pieces.append(bytes((int(letter, 16),)))
            gone -= 1
        at.append(done - start - gone)
        ahead.append(gone)
        letters.append(letter is not None)
    pieces.append(data[done:end])
    # Some rules look for the beginning of a line; the part begins there, or within a long one.
    return Reading(start, end, b"".join(pieces), 1, tuple(at), tuple(ahead), tuple(letters))
