"""Find lines of a transcript from its end, without reading what lies between as JSON.

Bytes are searched in blocks, so a file of gigabytes costs no memory, and a hit is believed only
when the whole line, read as what it is, says so too.
"""

import os
from collections.abc import Iterator

from siding.sessions.heads import Head, Seen, look
from siding.sessions.kinds import COMPACT_BOUNDARY
from siding.sessions.wrecks import Wreck, wreck_of
from siding.storage.codec import NotJson
from siding.storage.lines import KEPT_OF_TOO_LONG, MAX_LINE_BYTES

_BLOCK = 1024 * 1024
_BOUNDARY = b'"%b"' % COMPACT_BOUNDARY.encode()


def boundaries_backwards(fd: int, stop: int) -> Iterator[int]:
    """Yield where the lines of compact boundaries begin, the last one before `stop` first."""
    for offset, seen in _lines_with(fd, _BOUNDARY, stop):
        if isinstance(seen, Seen) and seen.boundary:
            yield offset


def message_before(fd: int, uuid: str, stop: int) -> int | None:
    """Return where the line of the last message of that uuid before `stop` begins.

    A bridge of old files counts: it stands for the message before it. So does a damaged line that
    still tells the uuid as its own.
    """
    needle = b'"%b"' % uuid.encode("utf-8", "surrogatepass")
    for offset, seen in _lines_with(fd, needle, stop):
        if isinstance(seen, Wreck):
            if uuid in seen.names:
                return offset
            continue
        head = seen if isinstance(seen, Head) else seen.head
        if head is not None and head.uuid == uuid:
            return offset
        if isinstance(seen, Seen) and seen.bridge is not None and seen.bridge[0] == uuid:
            return offset
    return None


def lines_from(fd: int, start: int, size: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the closed lines from `start`, where one begins, to `size`, many at a time: where the
    first of them begins, and the lines without their newlines, blank ones included.

    Stops before a line that is too long or was never closed; what is left is for `lines_forwards`.
    """
    pending: list[bytes] = []  # of a line that does not end in its block
    waiting = 0
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
    """Yield the bytes of a part of the file, a block at a time."""
    while start < stop and (block := os.pread(fd, min(_BLOCK, stop - start), start)):
        yield block
        start += len(block)


def _lines_with(fd: int, needle: bytes, stop: int) -> Iterator[tuple[int, Head | Seen | Wreck]]:
    """Yield the lines before `stop` that contain the bytes, last one first."""
    while (at := _rfind(fd, needle, stop)) >= 0:
        start = _line_start(fd, at)
        end = _line_end(fd, at)
        stop = start  # whatever it is, the line has been looked at
        if end - start > MAX_LINE_BYTES:
            yield start, wreck_of(read_at(fd, start, KEPT_OF_TOO_LONG), start)
            continue
        raw = _read(fd, start, end)
        try:
            yield start, look(raw, start)
        except NotJson:
            yield start, wreck_of(raw, start)


def _rfind(fd: int, needle: bytes, stop: int) -> int:
    """Return the last place before `stop` where the bytes begin and end; -1: nowhere."""
    overlap = len(needle) - 1
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
    """Return where the line's newline is, or the end of the file."""
    while block := os.pread(fd, _BLOCK, at):
        found = block.find(b"\n")
        if found >= 0:
            return at + found
        at += len(block)
    return at


def read_at(fd: int, offset: int, size: int) -> bytes:
    """Return `size` bytes, fewer only where the file ends."""
    data = os.pread(fd, size, offset)
    while len(data) < size and (more := os.pread(fd, size - len(data), offset + len(data))):
        data += more
    return data


def _read(fd: int, start: int, end: int) -> bytes:
    return read_at(fd, start, end - start)
