"""Text files: from bytes to lines and back, so that what is not changed stays as it is.

A model sees line ends as ``\n`` alone. An edit is found in that form and made in the text as it
is on disk, so bytes outside of it do not change, whatever their line ends are.
"""

import codecs
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import BinaryIO

from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it begins with the same bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 8192  # bytes in which a NUL means that a file is no text, as git has it


class Encoding(NamedTuple):
    """How a text is stored."""

    name: str = "utf-8"
    bom: bytes = b""


class Text(NamedTuple):
    """A text as it is on disk, but decoded."""

    raw: str
    encoding: Encoding = Encoding()

    @property
    def seen(self) -> str:
        """The text as a model sees it."""
        return self.raw.replace("\r\n", "\n")

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        windows = self.raw.count("\r\n")
        return "\r\n" if windows > self.raw.count("\n") - windows else "\n"

    def encoded(self) -> bytes:
        """Return the bytes. Raises UnicodeEncodeError."""
        return self.encoding.bom + self.raw.encode(self.encoding.name)


def is_binary(data: bytes) -> bool:
    """Tell whether bytes, or the first of a file, are no text."""
    return encoding_of(data) is None


def encoding_of(data: bytes) -> Encoding | None:
    """Return the encoding that the first bytes of a file show; None of what is no text."""
    for bom, name in _BOMS:
        if data.startswith(bom):
            return Encoding(name, bom)
    return None if b"\0" in data[:_LOOKED_AT] else Encoding()


def decoded(data: bytes) -> Text | None:
    """Return a file's text; None if it is none.

    What is not UTF-8 and has no byte-order mark is read as Latin-1, in which every byte is a
    character: it comes back as it was, whatever it was.
    """
    encoding = encoding_of(data)
    if encoding is None:
        return None
    body = data[len(encoding.bom) :]
    try:
        return Text(body.decode(encoding.name), encoding)
    except UnicodeDecodeError:
        if encoding.bom and encoding.name != "utf-8":
            return None  # it only looked like UTF-16
        return Text(data.decode("latin-1"), Encoding("latin-1"))


def with_newlines(seen: str, newline: str) -> str:
    """Return a text with the given line ends."""
    return seen.replace("\r\n", "\n").replace("\n", newline) if newline != "\n" else seen


def replaced(text: Text, old: str, new: str, *, everywhere: bool) -> tuple[Text, int]:
    """Replace `old`, as a model sees it, once or everywhere; return how often it is there.

    Unless it is there, and only once if not `everywhere`, the text stays as it is.
    """
    seen = text.seen
    wanted = old if old in seen else old.replace("\r\n", "\n")
    count = seen.count(wanted)
    if count == 0 or (count > 1 and not everywhere):
        return text, count
    ends = _windows_ends(text.raw)
    pieces: list[str] = []
    done = at = 0
    while (found := seen.find(wanted, at)) >= 0:
        start, at = _raw_offset(ends, found), found + len(wanted)
        end = _raw_offset(ends, at)
        pieces += text.raw[done:start], with_newlines(new, _newline_of(text, start, end))
        done = end
    pieces.append(text.raw[done:])
    return text._replace(raw="".join(pieces)), count


def _newline_of(text: Text, start: int, end: int) -> str:
    """Return the line end for what replaces a piece: the piece's own, else that of the file."""
    piece = text.raw[start:end]
    return Text(piece).newline if "\n" in piece else text.newline


def _windows_ends(raw: str) -> list[int]:
    """Return where, in the text as it is seen, the line ends of two characters are."""
    ends: list[int] = []
    at = raw.find("\r\n")
    while at >= 0:
        ends.append(at - len(ends))
        at = raw.find("\r\n", at + 2)
    return ends


def _raw_offset(ends: list[int], offset: int) -> int:
    return offset + bisect_left(ends, offset)


# -- Some lines of a text with their numbers, as ``cat -n`` shows them -----------------------------


_LONGEST = 2000  # characters of a line
_MOST_SHOWN = 100_000  # characters of all lines
_PART = 1 << 16


class Window(NamedTuple):
    """Which lines: the first, from 1, and how many."""

    first: int = 1
    limit: int = 2000


class Lines(NamedTuple):
    """The lines of a window. `total` is how many the file has."""

    first: int
    lines: tuple[str, ...]
    total: int
    is_full: bool  # more would have been too much

    @staticmethod
    def of(data: bytes, window: Window) -> "Lines":
        """Return the lines of a text that is in memory."""
        text = decoded(data)
        if text is None:
            return lines_of(BytesIO(data), window)
        return _windowed(_split(text.seen), window)

    @property
    def number(self) -> int:
        """How many lines these are."""
        return len(self.lines)

    @property
    def content(self) -> str:
        """The lines without their numbers."""
        return "\n".join(self.lines)

    @property
    def shown(self) -> str:
        """What the model reads."""
        if self.total == 0:
            return "(The file is there and empty.)"
        if not self.lines:
            return f"(There is no line {self.first}: the file has {counted(self.total, 'line')}.)"
        numbered = (f"{n:6}\t{_cut(line)}" for n, line in enumerate(self.lines, start=self.first))
        last = self.first + self.number - 1
        if last >= self.total:
            return "\n".join(numbered)
        why = " That is all that is shown at once." if self.is_full else ""
        return "\n".join(numbered) + (
            f"\n(Lines {self.first} to {last} of {self.total}.{why} "
            f"To go on, read with offset {last + 1}.)"
        )


def _cut(line: str) -> str:
    if len(line) <= _LONGEST:
        return line
    return f"{line[:_LONGEST]}… ({counted(len(line) - _LONGEST, 'more character')})"


def _split(text: str) -> Iterator[str]:
    """Yield the lines without their ends; a text without a last line end has a last line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    yield from lines


def lines_of(file: BinaryIO, window: Window) -> Lines:
    """Return lines of a file that is too large to be held in memory."""
    first = file.read(4)
    file.seek(0)
    encoding = encoding_of(first)
    name = encoding.name if encoding else "utf-8"
    file.seek(len(encoding.bom) if encoding else 0)
    decoder = codecs.getincrementaldecoder(name)("replace")
    return _windowed(_streamed(file, decoder), window)


def _streamed(file: BinaryIO, decoder: codecs.IncrementalDecoder) -> Iterator[str]:
    """Yield lines; of one that is much too long only the beginning."""
    rest = ""
    dropped = False
    while part := file.read(_PART):
        pieces = decoder.decode(part).split("\n")
        pieces[0] = rest if dropped else rest + pieces[0]
        *whole, rest = pieces
        for line in whole:
            yield line.removesuffix("\r")
        dropped = (dropped and not whole) or len(rest) > 2 * _PART
    rest = rest if dropped else rest + decoder.decode(b"", final=True)
    if rest:
        yield rest


def _windowed(lines: Iterable[str], window: Window) -> Lines:
    kept: list[str] = []
    size = total = 0
    is_full = False
    for total, line in enumerate(lines, start=1):
        if total < window.first or len(kept) >= window.limit or is_full:
            continue
        size += min(len(line), _LONGEST) + 8
        is_full = bool(kept) and size > _MOST_SHOWN
        if not is_full:
            kept.append(line)
    return Lines(window.first, tuple(kept), total, is_full)
