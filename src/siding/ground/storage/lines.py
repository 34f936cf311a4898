"""Read the lines of a file from either end, in bounded memory.

Both directions yield the same lines: they are split at ``\\n`` only, and lines of white space are
skipped. The file may grow meanwhile, or shrink, because a writer cuts its line off after an error.
"""

import os
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple

MAX_LINE_BYTES = 32 * 1024 * 1024
KEPT_OF_TOO_LONG = 1024
_NEWLINE = ord("\n")
_BLOCK = 64 * 1024
_FIRST_BLOCK = 16 * 1024  # about the last twenty lines of a ledger


class Line(NamedTuple):
    """One line of a file.

    `raw` is the line without its newline. For a line over `MAX_LINE_BYTES`, `is_too_long` is True
    and `raw` has its first `KEPT_OF_TOO_LONG` bytes. `offset` and `end` are byte positions in the
    file; `end` is where the next line begins. `number` counts from 1; it is None when the reading
    did not begin at the file's start. `is_closed` is False for a last line without a newline.
    """

    number: int | None
    offset: int
    end: int
    raw: bytes
    is_closed: bool
    is_too_long: bool


def lines_forwards(fd: int, start: int = 0) -> Iterator[Line]:
    """Yield the lines from the byte offset `start` on.

    If `start` lies within a line, the rest of that line is skipped.
    """
    number = 1 if start == 0 else None
    offset = _line_start(fd, start)
    position = offset
    pending = _Pending()
    while block := os.pread(fd, _BLOCK, position):
        position += len(block)
        first, *more = block.split(b"\n")
        pending.add(first)
        if not more:
            continue
        if line := pending.line(number, offset, is_closed=True):
            yield line
        offset += pending.size + 1
        number = number and number + 1
        *within, rest = more
        for raw in within:  # most lines: the block has all of them
            end = offset + len(raw) + 1
            if raw and not raw.isspace():
                yield Line(number, offset, end, raw, True, False)
            offset = end
            number = number and number + 1
        pending = _Pending()
        pending.add(rest)
    if line := pending.line(number, offset, is_closed=False):
        yield line


def lines_backwards(fd: int, size: int) -> Iterator[Line]:
    """Yield the lines of the first `size` bytes, last one first, without numbers."""
    block = _Block(b"", size)
    # `stop` is where the line we look for ends without its newline, `end` where the next begins.
    stop = end = size
    is_closed = False
    while True:
        at = block.data.rfind(b"\n", 0, stop - block.base)
        if at < 0 and block.base > 0:
            block = _block_before(fd, block.base, _BLOCK if block.data else _FIRST_BLOCK)
            if block.is_short:  # the file has shrunk: a writer cut off its line after an error
                stop = end = block.base + len(block.data)
                is_closed = False
            continue
        offset = block.base + at + 1
        if line := _line_at(fd, block, offset, stop, end, is_closed=is_closed):
            yield line
        if at < 0:
            return
        if at and block.data[at - 1] == _NEWLINE:  # skip a run of empty lines at once
            at = len(block.data[:at].rstrip(b"\n"))
        stop = block.base + at
        end = stop + 1
        is_closed = True


class _Block(NamedTuple):
    data: bytes
    base: int
    is_short: bool = False


def _block_before(fd: int, position: int, size: int) -> _Block:
    base = max(position - size, 0)
    data = _read_at(fd, position - base, base)
    return _Block(data=data, base=base, is_short=len(data) < position - base)


def _read_at(fd: int, size: int, offset: int) -> bytes:
    """Return `size` bytes, or fewer only at the file's end."""
    data = os.pread(fd, size, offset)
    while len(data) < size and (more := os.pread(fd, size - len(data), offset + len(data))):
        data += more
    return data


def _line_at(
    fd: int, block: _Block, offset: int, stop: int, end: int, *, is_closed: bool
) -> Line | None:
    is_too_long = stop - offset > MAX_LINE_BYTES
    if is_too_long:
        raw = _read_at(fd, KEPT_OF_TOO_LONG, offset)
    elif block.base <= offset and stop <= block.base + len(block.data):
        raw = block.data[offset - block.base : stop - block.base]
    else:
        raw = _read_at(fd, stop - offset, offset)
    return _line(None, offset, end, raw, is_closed=is_closed, is_too_long=is_too_long)


def _line(
    number: int | None, offset: int, end: int, raw: bytes, *, is_closed: bool, is_too_long: bool
) -> Line | None:
    """Return the line, or None for a blank one."""
    if not is_too_long and (not raw or raw.isspace()):
        return None
    return Line(
        number=number,
        offset=offset,
        end=end,
        raw=raw,
        is_closed=is_closed,
        is_too_long=is_too_long,
    )


class _Pending:
    """Collects one line from blocks; it keeps only the first bytes of a line that is too long."""

    __slots__ = ("_pieces", "size")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0

    def add(self, piece: bytes) -> None:
        if self.size <= MAX_LINE_BYTES:
            self._pieces.append(piece)
            if self.size + len(piece) > MAX_LINE_BYTES:
                self._pieces = [b"".join(self._pieces)[:KEPT_OF_TOO_LONG]]
        self.size += len(piece)

    def line(self, number: int | None, offset: int, *, is_closed: bool) -> Line | None:
        """Return the line, or None for a blank one."""
        pieces = self._pieces
        raw = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        end = offset + self.size + is_closed
        return _line(
            number,
            offset,
            end,
            raw,
            is_closed=is_closed,
            is_too_long=self.size > MAX_LINE_BYTES,
        )


def _line_start(fd: int, start: int) -> int:
    """Return `start` if a line begins there, else the start of the next line."""
    if start == 0 or os.pread(fd, 1, start - 1) == b"\n":
        return start
    while block := os.pread(fd, _BLOCK, start):
        at = block.find(b"\n")
        if at >= 0:
            return start + at + 1
        start += len(block)
    return start
