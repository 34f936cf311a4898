"""The story of a conversation: a file of lines, one an event, that grows at its end.

Whoever shows a conversation reads the file, from its beginning or from a line whose number it
knows, and goes on as it grows. So each viewer has the same story to the byte, a slow one costs
nobody but itself, and nothing is kept in memory for one. Only the host writes, under the lock of
the conversation.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.ground.files.durable import flush, write_all
from siding.ground.files.regular import open_regular
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.writes import encode_line

_BLOCK = 1 << 16
_HEAD = 200  # bytes of a line within which its event is named


class Story:
    """The story, open for its one writer."""

    def __init__(self, path: Path) -> None:
        self._fd = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._cut_torn()
        self.size = os.fstat(self._fd).st_size

    def add(self, record: Mapping[str, Any], *, now: bool) -> None:
        """Append a line. With `now` it and all before it are on the disk when this returns."""
        line = encode_line(record) + b"\n"
        write_all(self._fd, line)
        self.size += len(line)
        if now:
            self.sync()

    def sync(self) -> None:
        """Return when all that was added is on the disk."""
        flush(self._fd)

    def is_at(self, path: Path) -> bool:
        """Tell whether the file is still the one that has this path."""
        try:
            there, ours = path.stat(), os.fstat(self._fd)
        except OSError:
            return False
        return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)

    def close(self) -> None:
        flush(self._fd)
        os.close(self._fd)

    def _cut_torn(self) -> None:
        """Cut off a line that a killed writer had begun: nothing was done of what it says."""
        end = size = os.fstat(self._fd).st_size
        while end > 0:
            start = max(0, end - _BLOCK)
            place = os.pread(self._fd, end - start, start).rfind(b"\n")
            if place >= 0:
                end = start + place + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._fd, end)


class StoryReader:
    """Reads a story that may still grow. `offset` is where the next line begins."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._fd = open_regular(path)
        self.offset = offset

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines that are there and were not read yet, each with its newline."""
        begun: list[bytes] = []  # of the last line, which is not whole
        place = self.offset
        while block := os.pread(self._fd, _BLOCK, place):
            place += len(block)
            *whole, rest = block.split(b"\n")
            for each in whole:
                line = b"".join([*begun, each, b"\n"])
                begun.clear()
                self.offset += len(line)
                yield line
            if rest:
                begun.append(rest)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield them as records. A line that cannot be read is passed over."""
        return filter(None, map(record_in, self.lines()))

    def at(self, offset: int) -> bytes:
        """Return the byte there; nothing behind the end."""
        return os.pread(self._fd, 1, offset)

    def records_of(self, events: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield those of these events alone: what an agent says is most of a story."""
        wanted = re.compile(f'"event": ?"(?:{"|".join(events)})"'.encode())
        for line in self.lines():
            if wanted.search(line, 0, _HEAD) and (record := record_in(line)):
                yield record

    def close(self) -> None:
        os.close(self._fd)


def record_in(line: bytes) -> dict[str, Any]:
    """Return a line as its record; an empty one if it cannot be read."""
    try:
        return parse_object(line)
    except NotJson:
        return {}
