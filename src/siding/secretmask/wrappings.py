"""Find secrets that something interrupts or spells differently, by reading them without it.

A colour or an invisible character inside a word, a line that a program wrapped at the edge of a
terminal, letters as escapes (``\\u0067``, ``%67``), and UTF-16: each is undone in a copy of the
bytes around it. The rules are applied to the copy, and what they find counts in the original.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.credit import Meter
from siding.secretmask.formats import STARTS
from siding.secretmask.lazily import lazily
from siding.secretmask.wide_lines import INDENTED, WIDTH, indented, is_wrap

_BEFORE = 256  # bytes before an interruption that are read with it
_BEHIND = 1024
_NAME = 48
_FOUND = 3  # steps for an interruption
_COLOUR = rb"\x1b\[[0-9;]{0,16}[mK]"
_LETTER = rb"(?:2[Dd]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9Aa])"  # hexadecimal
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_WORD_BYTES = frozenset(bytes((each,)) for each in _WORD)
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
    )
)
_PERCENTS = lazily(rb"%" + _LETTER + rb"(?:%" + _LETTER + rb")*+")
_PERCENT = 3  # bytes of such a letter
_UNDONE = lazily(
    rb"(?:" + _COLOUR + rb")++|(?:\xe2\x80[\x8b-\x8f]|\xe2\x81[\xa0-\xa4]|\xef\xbb\xbf|\xc2\xad)++"
    rb"|((?:\\u00"
    + _LETTER
    + rb")++)|((?:\\x"
    + _LETTER
    + rb")++)|((?:%"
    + _LETTER
    + rb")++)|(\r?\n(?:"
    + INDENTED
    + rb")?)"
)
_SPELLED = {
    digits.encode(): bytes((code,))
    for code in range(0x20, 0x80)
    for digits in (f"{code:02x}", f"{code:02X}")
}
_WIDTHS = (0, 6, 4, _PERCENT, 0)  # of a letter, by the group of `_UNDONE`
_BREAK = 4  # the group of a line's end
_NAMED = frozenset(b":=>rRcC")  # before a value: a separator, or the end of Bearer and Basic
_ASSIGNS = lazily(rb"[=:\"']")
_WIDE = lazily(rb"(?:[\t\n\r -~]\x00){8,}+")


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
    within: tuple[int, ...] = ()  # the offsets in the copy of what was undone within a word

    @property
    def size(self) -> int:
        """The number of bytes that were read."""
        return self.end - self.start

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

    def offset(self, place: int) -> int:
        """Return the offset in the copy of an offset in the data."""
        begins = [
            self.start + at * self.step + ahead
            for at, ahead in zip(self.at, self.ahead, strict=True)
        ]
        index = bisect_right(begins, place)
        gone = self.ahead[index - 1] if index else 0
        return max(0, place - self.start - gone) // self.step

    def undoes(self, start: int, end: int) -> bool:
        """Return whether a word was interrupted within a span of the copy, or in a name before it.

        What is around words counts for nothing: a stream may have returned it before.
        """
        first = bisect_right(self.within, start - _NAME)
        return self.step > 1 or bisect_right(self.within, end) > first


def readings(data: bytes, wide: Iterable[int], meter: Meter) -> Iterator[Reading]:
    """Yield a reading of each part of `data` in which something can be undone.

    `wide`: where its lines end that may go on in the next one, from `wide_line_ends`.
    """
    for start, end in _parts(data, wide, meter):
        yield _undone(data, start, end)
    if b"\x00" in data:
        for found in _WIDE.finditer(data):
            yield Reading(found.start(), found.end(), found[0][::2], step=2)


def _parts(data: bytes, wide: Iterable[int], meter: Meter) -> list[tuple[int, int]]:
    """Return the parts of the data that have an interruption, apart and in order."""
    found = [
        (match.start(), match.end(), 0)
        for first, pattern in _INTERRUPTIONS
        if first in data
        for match in meter.each(pattern.finditer(data), _FOUND)
    ]
    found += ((start, end, 0) for start, end in meter.each(_wraps(data, wide), _FOUND))
    if b"%" in data:
        percents = meter.each(_PERCENTS.finditer(data), _FOUND)
        found += [(match.start(), match.end(), _PERCENT) for match in percents]
    found.sort()
    parts: list[tuple[int, int]] = []
    last = 0  # the end of the last part
    for first, end, step in found:
        while end > last:
            start, stop = first, end
            if step:  # letters: the first one behind the last part begins the next
                start += max(0, last - first) // step * step
                stop = start + step
            begin = max(data.rfind(b"\n", max(0, start - _BEFORE), start) + 1, start - _BEFORE, 0)
            behind = data.find(b"\n", stop + 1, stop + _BEHIND)
            stop = behind if behind >= 0 else min(len(data), stop + _BEHIND)
            if parts and begin <= last:
                parts[-1] = (parts[-1][0], stop)
            else:
                parts.append((begin, stop))
            last = stop
    return parts


def _wraps(data: bytes, wide: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield each line break within a word that may be a secret."""
    last = 0
    for end in wide:
        start = end - WIDTH
        word = max(data.rfind(b" ", start, end), data.rfind(b"\t", start, end)) + 1
        goes_on = last == start and word <= indented(data, start)
        if goes_on or (
            data[word - 2] in _NAMED
            or data[word : word + 3] in STARTS
            or _ASSIGNS.search(data, word, end)
            if word > start
            else data[start : start + 3] in STARTS
        ):
            last = end + 1 + (data[end] == 0x0D)
            yield end, indented(data, last)


def _undone(data: bytes, start: int, end: int) -> Reading:
    pieces: list[bytes] = []
    at: list[int] = []
    ahead: list[int] = []
    letters: list[bool] = []
    within: list[int] = []
    done, gone = start, 0
    for found in _UNDONE.finditer(data, start, end):
        begin, behind = found.span()
        kind = found.lastindex
        if kind == _BREAK and not is_wrap(data, begin):
            continue
        pieces.append(data[done:begin])
        done = behind
        width = _WIDTHS[kind or 0]
        if width == behind - begin:
            pieces.append(_SPELLED[data[behind - 2 : behind]])
            gone += width - 1
            letters.append(True)
            ahead.append(gone)
            at.append(behind - start - gone)
            within.append(at[-1])
            continue
        if width:  # several letters, one after the other
            text = _spelled(found[0], width)
            pieces.append(text)
            places = range(begin - start - gone + 1, begin - start - gone + len(text) + 1)
            longer = range(gone + width - 1, gone + (width - 1) * len(text) + 1, width - 1)
            at += places
            within += places
            ahead += longer
            letters += [True] * len(text)
            gone = longer[-1]
            continue
        gone += behind - begin
        at.append(behind - start - gone)
        ahead.append(gone)
        letters.append(False)
        if kind == _BREAK or _is_within(data, begin, behind):
            within.append(at[-1])
    pieces.append(data[done:end])
    # Some rules look for the beginning of a line; the part begins there, or within a long one.
    return Reading(
        start, end, b"".join(pieces), 1, tuple(at), tuple(ahead), tuple(letters), tuple(within)
    )


def _spelled(letters: bytes, width: int) -> bytes:
    """Return what the letters mean, each of which ends with two hexadecimal digits."""
    return bytes.fromhex(letters.replace(letters[: width - 2], b"").decode())


def _is_within(data: bytes, start: int, end: int) -> bool:
    """Return whether what is removed here is within a word, as `_INTERRUPTIONS` have it."""
    if data[start - 2] in b"0123456789[" and data[start - 1] in b"mK":
        return False
    return data[start - 1] in _WORD and data[end : end + 1] in _WORD_BYTES
