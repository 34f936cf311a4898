"""Journals: one JSON object a line, only ever appended to.

Writing: under the lock ``<journal>.lock`` the whole line goes out in one write and is flushed; only
then does `append` return. A last line without its newline is what a killed writer left: it was
promised to nobody, it is closed with a newline and stays, and readers report it as torn.

Reading takes no lock and writes nothing. A damaged line is an `Entry` with a `problem` instead of a
`record`; it never hides the lines after it. Lines of white space alone are no entries. Memory is
bounded by the longest line, and that by `MAX_LINE_BYTES`.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from siding.files.durable import flush, flush_dir, write_all
from siding.files.regular import open_with_stat
from siding.storage.codec import NotJson, encode_line, parse_object
from siding.storage.errors import NotStorable
from siding.storage.lines import MAX_LINE_BYTES, Line, lines_backwards, lines_forwards
from siding.storage.locks import FileLock

TORN = "torn"
TOO_LONG = "too long"
LOCK_TIMEOUT_S = 60.0


class Entry(NamedTuple):
    """One line of a journal. Exactly one of `record` and `problem` is None.

    `number` counts lines from 1 as an editor does; it is None when the reading did not begin at
    the file's start. `offset` and `end` are bytes; `end` is where the next line begins. `raw` is
    the line without its newline, of a line that is too long only the first bytes.
    """

    number: int | None
    offset: int
    end: int
    raw: bytes
    record: dict[str, Any] | None
    problem: str | None


class Damage(NamedTuple):
    """A line that could not be read: where it is (see `Entry`) and what is wrong with it."""

    number: int
    offset: int
    end: int
    problem: str


class Journal:
    """A journal file, which need not exist yet; its directory must, before the first append."""

    __slots__ = ("_lock_timeout_s", "path")

    def __init__(self, path: Path, *, lock_timeout_s: float | None = LOCK_TIMEOUT_S) -> None:
        self.path = path
        self._lock_timeout_s = lock_timeout_s

    def append(self, record: Mapping[str, Any]) -> None:
        """Add the record; returns after it would survive a power cut.

        Raises OSError, `LockBusy`, `NotARegularFile` or `NotStorable`: the record is then not in
        the journal and what was there before is.
        """
        line = _encode(record)
        with self._open_locked() as (fd, size):
            _write_line(fd, size, line)

    def append_built(
        self, build: Callable[[bytes | None], Mapping[str, Any]]
    ) -> tuple[dict[str, Any], bytes]:
        """Add the record that `build` makes of the previous line; return it and its raw line.

        `build` runs under the lock and gets `Entry.raw` of the last entry, damaged or not, or None
        for the first. What it raises leaves the journal as it was.
        """
        with self._open_locked() as (fd, size):
            previous = next(lines_backwards(fd, size), None)
            record = dict(build(previous.raw if previous else None))
            line = _encode(record)
            _write_line(fd, size, line)
        return record, line

    def close_last_line(self) -> None:
        """End the last line, durably, if a killed writer left it without its end.

        The next append does so too; but a record of which only the newline was missing counts from
        then on. So whoever may be about to write a record for the second time asks for this first,
        and then looks whether it is there.
        """
        last = self.last()
        if last is None or last.problem != TORN:
            return
        with self._open_locked() as (fd, size):
            if newline := _missing_newline(fd, size):
                write_all(fd, newline)
                flush(fd)

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """Yield the entries from the byte offset `start` (an `Entry.end`) on, oldest first.

        A journal that does not exist has none. An offset within a line skips the rest of it.
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
        """Return the last `count` entries, oldest first, at a cost that the file's size is no part
        of. Their `number` is None.
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
        """Return what could not be read, in order, at most `limit` of it; reads the whole file.

        A torn last line may also be one that is being written at this moment.
        """
        damaged = (
            Damage(number=entry.number or 0, offset=entry.offset, end=entry.end, problem=problem)
            for entry in self.entries()
            if (problem := entry.problem) is not None
        )
        return list(islice(damaged, limit))

    @contextmanager
    def _open_locked(self) -> Iterator[tuple[int, int]]:
        """Yield the journal's descriptor and size, under the lock."""
        lock = FileLock(self.path.with_name(self.path.name + ".lock"))
        with lock.acquire(timeout_s=self._lock_timeout_s):
            fd, status = open_with_stat(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
            try:
                if status.st_size == 0:
                    # The name before the first line: a journal with content has a lasting name,
                    # whoever made it and however that ended.
                    flush_dir(self.path.parent)
                yield fd, status.st_size
            finally:
                os.close(fd)


def _encode(record: Mapping[str, Any]) -> bytes:
    line = encode_line(record)
    if len(line) > MAX_LINE_BYTES:
        raise NotStorable(f"a record of {len(line)} bytes is over the limit of {MAX_LINE_BYTES}")
    return line


def _write_line(fd: int, size: int, line: bytes) -> None:
    try:
        write_all(fd, b"%b%b\n" % (_missing_newline(fd, size), line))
        flush(fd)
    except BaseException:
        # Not promised, so it must not be found. After a failed flush the kernel may have dropped
        # the bytes and call the next flush a success: the record is given up, never flushed again.
        with suppress(OSError):
            os.ftruncate(fd, size)
        raise


def _missing_newline(fd: int, size: int) -> bytes:
    """Return the newline that a killed writer's last line lacks; nothing when it is whole."""
    return b"\n" if size and os.pread(fd, 1, size - 1) != b"\n" else b""


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
    return Entry(
        number=line.number,
        offset=line.offset,
        end=line.end,
        raw=line.raw,
        record=record,
        problem=problem,
    )


def _looks_torn(raw: bytes, error: NotJson) -> bool:
    """Whether the line is an object of which a part is missing."""
    if b"\0" in raw:
        # We never write one: after a power cut it stands for a block whose bytes had not arrived.
        return True
    body = raw.rstrip(b"\r\t ")
    return body.startswith(b"{") and (not body.endswith(b"}") or error.is_cut_off)
