"""Some lines of a text with their numbers, as ``cat -n`` shows them."""

import codecs
from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import BinaryIO

from siding.assistant.tools.files.texts import decoded, encoding_of
from siding.ground.namedtuples import NamedTuple

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
            return f"(There is no line {self.first}: the file has {self.total} lines.)"
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
    return f"{line[:_LONGEST]}… ({len(line) - _LONGEST} more characters)"


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
