"""Keep what was counted, by path, size and time, so that only what is new is read.

``usage.sqlite3`` in the home can be deleted at any time. It holds numbers, ids, names of models and
directories, and no word of a conversation. If it cannot be used, everything is read.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from siding.agents.transcripts.counting.reading import UNREADABLE, FileCount, read_file, stamp_of
from siding.agents.transcripts.homes.found import FoundTranscript
from siding.ground.namedtuples import NamedTuple

_VERSION = 1  # of what `FileCount` is
_TABLE = """
CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, counted BLOB)
"""
_DECODER = msgspec.msgpack.Decoder(FileCount)


class CountedFile(NamedTuple):
    """A file and what is in it; `problem` says why it could not be read."""

    found: FoundTranscript
    read: FileCount
    problem: str = ""


def counted_files(cache: Path, files: Iterable[FoundTranscript]) -> Iterator[CountedFile]:
    """Yield the calls of each file, of the cache where it has them."""
    kept = _kept(cache)
    new: list[tuple[str, int, int, bytes]] = []
    for found in files:
        size, mtime = stamp_of(found)
        path = f"{found.client}:{found.path}"
        known = kept.get(path)
        before = _decoded(known[2]) if known is not None else None
        if before is not None and known is not None and known[:2] == (size, mtime):
            yield CountedFile(found, before)
            continue
        try:
            count = read_file(found, before)
        except UNREADABLE as error:
            yield CountedFile(found, FileCount([]), str(error))
            continue
        new.append((path, size, mtime, msgspec.msgpack.encode(count)))
        yield CountedFile(found, count)
    if new:
        _keep(cache, new)


def _decoded(data: bytes) -> FileCount | None:
    try:
        return _DECODER.decode(data)
    except msgspec.MsgspecError:
        return None


def _open(cache: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(cache, timeout=1)
    if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        connection.execute("DROP TABLE IF EXISTS file")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
    connection.execute(_TABLE)
    return connection


def _kept(cache: Path) -> dict[str, tuple[int, int, bytes]]:
    if not cache.is_file():
        return {}
    with suppress(sqlite3.Error), closing(_open(cache)) as connection:
        rows = connection.execute("SELECT path, size, mtime, counted FROM file")
        return {path: (size, mtime, data) for path, size, mtime, data in rows}
    with suppress(OSError):
        cache.unlink()  # damaged: it is made anew
    return {}


def _keep(cache: Path, new: list[tuple[str, int, int, bytes]]) -> None:
    """Keep what was read. Another process may do the same: the last one counts."""
    with suppress(sqlite3.Error, OSError):
        cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        cache.touch(mode=0o600)
        with closing(_open(cache)) as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?)", new)
