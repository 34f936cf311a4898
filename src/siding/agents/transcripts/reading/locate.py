"""Find lines of a transcript by searching backwards from its end, without parsing the rest.

Bytes are searched in blocks of 1 MiB, so a file of gigabytes needs little memory. A hit counts only
when its whole line, parsed, is the line that was searched for.
"""

import os
from collections.abc import Iterator

from siding.agents.transcripts.heads import MessageHead, SeenLine, look
from siding.agents.transcripts.kinds import COMPACT_BOUNDARY
from siding.agents.transcripts.reading.damage import Wreck, wreck_of
from siding.ground.storage.codec import NotJson
from siding.ground.storage.lines import KEPT_OF_TOO_LONG, MAX_LINE_BYTES

_BLOCK = 1024 * 1024
_BOUNDARY = b'"%b"' % COMPACT_BOUNDARY.encode()


def boundaries_backwards(fd: int, stop: int) -> Iterator[int]:
    """Yield the offsets of the lines that are compaction boundaries before `stop`, last first."""
    for offset, seen in _lines_with(fd, _BOUNDARY, stop):
        if isinstance(seen, SeenLine) and seen.boundary:
            yield offset


def message_before(fd: int, uuid: str, stop: int) -> int | None:
    """Return the offset of the last line before `stop` that holds the message `uuid`, or None.

    A `progress` line of an old file counts, because it stands for its parent. So does a damaged
    line that still tells the uuid as its own.
    """
    needle = b'"%b"' % uuid.encode("utf-8", "surrogatepass")
    for offset, seen in _lines_with(fd, needle, stop):
        if isinstance(seen, Wreck):
            if uuid in seen.names:
                return offset
            continue
        head = seen if isinstance(seen, MessageHead) else seen.head
        if head is not None and head.uuid == uuid:
            return offset
        if isinstance(seen, SeenLine) and seen.bridge is not None and seen.bridge[0] == uuid:
            return offset
    return None


def lines_from(fd: int, start: int, size: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines between `start`, where one begins, and `size`, many at a time.

    Each item is the offset of the first line and the lines, without their newlines; blank lines are
    included. It stops before a line that is too long or has no newline: the caller reads the rest
    with `lines_forwards`.
    """
    pending: list[bytes] = []  # the parts of a line that goes on in the next block
    waiting = 0  # their bytes
    position = offset = start
    while position < size and waiting <= MAX_LINE_BYTES:
        block = os.pread(fd, min(_BLOCK, size - position), position)
        if not block:
            return
        position += len(block)
        first, *lines = block.split(b"\n")
        pending.append(first)
        if not lines:
            waiting += len(first)
            continue
        yield offset, [b"".join(pending), *lines[:-1]]
        pending = [lines[-1]]
        waiting = len(lines[-1])
        offset = position - waiting


def blocks(fd: int, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes from `start` to `stop`, a block at a time."""
    while start < stop and (block := os.pread(fd, min(_BLOCK, stop - start), start)):
        yield block
        start += len(block)


def _lines_with(
    fd: int, needle: bytes, stop: int
) -> Iterator[tuple[int, MessageHead | SeenLine | Wreck]]:
    """Yield offset and content of the lines before `stop` that contain `needle`, last first."""
    while (at := _rfind(fd, needle, stop)) >= 0:
        start = _line_start(fd, at)
        end = _line_end(fd, at)
        stop = start  # one hit a line is enough
        if end - start > MAX_LINE_BYTES:
            yield start, wreck_of(read_at(fd, start, KEPT_OF_TOO_LONG), start)
            continue
        raw = _read(fd, start, end)
        try:
            yield start, look(raw, start)
        except NotJson:
            yield start, wreck_of(raw, start)


def _rfind(fd: int, needle: bytes, stop: int) -> int:
    """Return the offset of the last occurrence of `needle` that ends before `stop`; -1: none."""
    overlap = len(needle) - 1  # blocks overlap, because the needle can lie across a border
    while stop > 0:
        base = max(stop - _BLOCK, 0)
        found = _read(fd, base, stop).rfind(needle)
        if found >= 0:
            return base + found
        if base == 0:
            return -1
        stop = base + overlap
    return -1


def _line_start(fd: int, at: int) -> int:
    return _rfind(fd, b"\n", at) + 1


def _line_end(fd: int, at: int) -> int:
    """Return the offset of the line's newline, or of the end of the file."""
    while block := os.pread(fd, _BLOCK, at):
        found = block.find(b"\n")
        if found >= 0:
            return at + found
        at += len(block)
    return at


def read_at(fd: int, offset: int, size: int) -> bytes:
    """Return the `size` bytes at `offset`; fewer only at the end of the file."""
    data = os.pread(fd, size, offset)
    while len(data) < size and (more := os.pread(fd, size - len(data), offset + len(data))):
        data += more
    return data


def _read(fd: int, start: int, end: int) -> bytes:
    return read_at(fd, start, end - start)
