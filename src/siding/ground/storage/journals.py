"""Journals: files with one JSON object on each line, which are only appended to.

Writing (`writes`): `append` takes the lock ``<journal>.lock``, writes the whole line at once and
flushes it before it returns. A killed writer may leave a last line without its newline. Its
`append` never returned, so the record does not count: the next append closes the line with a
newline, and readers report it as torn.

Reading takes no lock and writes nothing. A damaged line is an `Entry` with a `problem` instead of a
`record`; the lines after it are read as usual. Lines of white space are skipped. Reading needs
memory for the longest line, at most `MAX_LINE_BYTES`.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.lines import Line, lines_backwards, lines_forwards

TORN = "torn"
TOO_LONG = "too long"
LOCK_TIMEOUT_S = 60.0


class Entry(NamedTuple):
    """One line of a journal. Exactly one of `record` and `problem` is None.

    `number` counts lines from 1 as an editor does; it is None when the reading did not begin at
    the file's start. `offset` and `end` are in bytes; `end` is where the next line begins. `raw`
    is the line without its newline; for a line that is too long, its first 1024 bytes.
    """

    number: int | None
    offset: int
    end: int
    raw: bytes
    record: dict[str, Any] | None
    problem: str | None


class Damage(NamedTuple):
    """A line that could not be read: its position (see `Entry`) and its problem."""

    number: int
    offset: int
    end: int
    problem: str


class Journal:
    """A journal file. It need not exist yet; its directory must exist before the first append."""

    __slots__ = ("_lock_timeout_s", "path")

    def __init__(self, path: Path, *, lock_timeout_s: float | None = LOCK_TIMEOUT_S) -> None:
        self.path = path
        self._lock_timeout_s = lock_timeout_s

    def append(self, record: Mapping[str, Any]) -> None:
        """Append the record; when this returns, it survives a power cut.

        Raises OSError, `LockBusy`, `NotARegularFile` or `NotStorable`. The journal is then as it
        was before.
        """
        from siding.ground.storage.writes import append

        append(self.path, record, self._lock_timeout_s)

    def append_built(
        self, build: Callable[[bytes | None], Mapping[str, Any]]
    ) -> tuple[dict[str, Any], bytes]:
        """Append the record that `build` returns for the previous line; return it and its line.

        `build` runs under the lock and gets `Entry.raw` of the last entry, damaged or not, or None
        in an empty journal. If it raises, the journal is as it was before.
        """
        from siding.ground.storage.writes import append_built

        return append_built(self.path, build, self._lock_timeout_s)

    def close_last_line(self) -> None:
        """Close the last line with a newline, durably, if a killed writer left it torn.

        The next append does so too. But if only the newline was missing, the line is a valid record
        from then on. So code that may be writing a record for the second time calls this first, and
        then looks whether the record is there.
        """
        last = self.last()
        if last is None or last.problem != TORN:
            return
        from siding.ground.storage.writes import close_last_line

        close_last_line(self.path, self._lock_timeout_s)

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """Yield the entries from the byte offset `start` (an `Entry.end`) on, oldest first.

        A journal that does not exist yields none. If `start` lies within a line, the rest of that
        line is skipped.
        """
        try:
            fd, _ = open_with_stat(self.path)
        except FileNotFoundError:
            return
        try:
            for line in lines_forwards(fd, start):
                yield _entry(line)
        finally:
            os.close(fd)

    def tail(self, count: int) -> list[Entry]:
        """Return the last `count` entries, oldest first; their `number` is None.

        This reads from the end of the file, so the cost does not depend on the file's size.
        """
        if count <= 0:
            return []
        try:
            fd, status = open_with_stat(self.path)
        except FileNotFoundError:
            return []
        try:
            lines = list(islice(lines_backwards(fd, status.st_size), count))
        finally:
            os.close(fd)
        return [_entry(line) for line in reversed(lines)]

    def last(self) -> Entry | None:
        """Return the last entry, or None when there is none."""
        return next(iter(self.tail(1)), None)

    def damage(self, *, limit: int | None = None) -> list[Damage]:
        """Read the whole file and return its damaged lines in order, at most `limit`.

        A torn last line may also be one that another process is writing at this moment.
        """
        damaged = (
            Damage(number=entry.number or 0, offset=entry.offset, end=entry.end, problem=problem)
            for entry in self.entries()
            if (problem := entry.problem) is not None
        )
        return list(islice(damaged, limit))


def _entry(line: Line) -> Entry:
    record, problem = None, None
    if line.is_too_long:
        problem = TOO_LONG
    elif not line.is_closed:
        problem = TORN
    else:
        try:
            record = parse_object(line.raw)
        except NotJson as error:
            problem = TORN if _looks_torn(line.raw, error) else str(error)
    return Entry(line.number, line.offset, line.end, line.raw, record, problem)


def _looks_torn(raw: bytes, error: NotJson) -> bool:
    """Return whether the line is an object of which a part is missing."""
    if b"\0" in raw:
        # We never write NUL. After a power cut a file system may show a block that was not written
        # yet as NUL bytes.
        return True
    body = raw.rstrip(b"\r\t ")
    return body.startswith(b"{") and (not body.endswith(b"}") or error.is_cut_off)
