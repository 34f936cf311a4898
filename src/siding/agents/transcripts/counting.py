"""Count the calls to models in files: what they cost in tokens.

One meaning of the numbers for all clients (`Tokens`): `input` is what was sent and not cached,
`cache_read` what came from a cache, `cache_write` what was put into one (for five minutes, or for
an hour), `output` all that the model wrote. `reasoning` is the part of `output` that was thought; 0
where a client does not say. So the sum of all tokens is input + cache_read + cache_write_5m +
cache_write_1h + output.

A file is read a block at a time, and only lines that may count are parsed: memory is that of its
calls. What was counted is kept, so that only what is new is read. Of a file that is not what it was
when it was read (shorter, or another end of the part that was read) everything is read again.

``usage.sqlite3`` in the home can be deleted at any time. It holds numbers, ids, names of models and
directories, and no word of a conversation. If it cannot be used, everything is read.

`counting` in an agent's folder has its ``COUNTING``.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.facets import Facet
from siding.agents.table import OUR_FORM
from siding.agents.transcripts.homes import KEPT_HERE, FoundTranscript
from siding.agents.transcripts.reading.locate import lines_from
from siding.ground.errors import SidingError
from siding.ground.files.regular import open_with_stat, read_bytes
from siding.ground.namedtuples import NamedTuple

UNKNOWN_MODEL = "(unknown)"
UNREADABLE = (OSError, SidingError, sqlite3.Error)
_END = 64  # bytes by which it is seen that a file has only grown
_VERSION = 1  # of what `FileCount` is
_TABLE = """
CREATE TABLE IF NOT EXISTS file (path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, counted BLOB)
"""


class Tokens(NamedTuple):
    """Counts of tokens, and of calls to a model."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    calls: int = 0

    def plus(self, other: "Tokens") -> "Tokens":
        """Return the sum of both."""
        return Tokens(*(one + two for one, two in zip(self, other, strict=True)))

    def less(self, other: "Tokens") -> "Tokens":
        """Return the difference, in which nothing is below zero."""
        return Tokens(*(max(0, one - two) for one, two in zip(self, other, strict=True)))

    @property
    def cache_write(self) -> int:
        """What was put into a cache, for however long."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def sent(self) -> int:
        """The whole context of a call, cached or not."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """The number of tokens of all kinds."""
        return self.sent + self.output


class Call(Struct, array_like=True, gc=False):
    """One call to a model, as a client has it. It is kept in the cache as it stands here.

    `key`: the same in all copies of it, "" if the client gives it no name. `at`: milliseconds since
    1970, 0 if not known. `turn`: the number of the prompt in its session. `is_copy`: the client
    says that the line was copied from another conversation. `cost`: dollars as the client counted
    them, None if it does not.
    """

    key: str
    at: int
    model: str
    provider: str
    cwd: str
    turn: int
    tokens: Tokens
    is_copy: bool = False
    cost: float | None = None


class Counted(Struct):
    """The calls of one conversation in one file, and where its reading goes on.

    `parent`: the session that it was forked from. `stated`: what the client's running total says
    of each model. The rest is the state of the reading: `model`, `provider`, `cwd`, `turn` of the
    next call, `total` and `shares` for clients that count running totals.
    """

    session: str
    calls: list[Call] = []
    parent: str = ""
    stated: dict[str, Tokens] = {}
    model: str = ""
    provider: str = ""
    cwd: str = ""
    turn: int = 0
    total: tuple[int, ...] | None = None
    began: int = 0

    def add(self, call: Call) -> None:
        """Add a call; the same one again only counts if it is larger."""
        if self.calls and call.key and self.calls[-1].key == call.key:
            if call.tokens.total > self.calls[-1].tokens.total:
                call.at, call.turn = self.calls[-1].at, self.calls[-1].turn
                self.calls[-1] = call
            return
        self.calls.append(call)


# -- Reading the calls of files, and keeping what was counted --------------------------------------


def _passed_over(_counted: Counted, _raw: bytes) -> None:
    return


def _not_named(_path: Path) -> str:
    return ""


def _no_others(_env: Mapping[str, str], _home: Path) -> Iterator[Path]:
    return iter(())


class Counting(NamedTuple):
    """How the calls in the files of one program are counted.

    `take` counts a line, `take_document` a file that is one JSON document. `conversations` reads a
    database instead, and raises `sqlite3.Error`. `others` yields files that are counted beside
    those in the program's home. `root` returns the directory of a conversation whose lines do not
    name it, `checkout` the name of the directory that it is of, where the place of the file has it.
    `repeats_parent`: the file of a fork has the calls of its parent, with the same totals.
    """

    take: Callable[[Counted, bytes], None] = _passed_over
    take_document: Callable[[Counted, bytes], None] = _passed_over
    conversations: Callable[[Path], list[Counted]] | None = None
    others: Callable[[Mapping[str, str], Path], Iterator[Path]] = _no_others
    root: Callable[[Path], str] = _not_named
    checkout: Callable[[Path], str] = _not_named
    repeats_parent: bool = False


COUNTING: Facet[Counting] = Facet("counting", "COUNTING")


def counting_of(client: str) -> Counting:
    """Return how the calls of a client are counted; ours are in the form of another's."""
    found = COUNTING.of(OUR_FORM if client == KEPT_HERE else client)
    assert found is not None
    return found


class FileCount(Struct):
    """What was read of a file: its conversations, and where the reading stopped.

    `end`: the last bytes before `offset`.
    """

    conversations: list[Counted]
    offset: int = 0
    end: bytes = b""


def read_file(found: FoundTranscript, before: FileCount | None = None) -> FileCount:
    """Return the calls in a file; `before` is what an earlier reading of it returned.

    Raises one of `UNREADABLE`.
    """
    counting = counting_of(found.client)
    if counting.conversations is not None:
        return FileCount(counting.conversations(found.path))
    if found.path.suffix == ".json":
        whole = _begun(found, counting)
        counting.take_document(whole, read_bytes(found.path))
        return FileCount([whole])
    fd, status = open_with_stat(found.path)
    try:
        if before is None or not _has_grown(fd, before):
            before = FileCount([_begun(found, counting)])
        _go_on(fd, status.st_size, counting, before)
        return before
    finally:
        os.close(fd)


def _begun(found: FoundTranscript, counting: Counting) -> Counted:
    """Return the conversation of a file of which nothing was read."""
    # A subagent's file is a part of the conversation that its lines name.
    session = "" if found.is_subagent else found.path.stem
    return Counted(session, cwd=counting.root(found.path))


def _has_grown(fd: int, before: FileCount) -> bool:
    return bool(before.conversations) and (
        os.pread(fd, len(before.end), before.offset - len(before.end)) == before.end
    )


def _go_on(fd: int, size: int, counting: Counting, count: FileCount) -> None:
    counted = count.conversations[0]
    for offset, lines in lines_from(fd, count.offset, size):
        for raw in lines:
            counting.take(counted, raw)
        count.offset = offset + sum(map(len, lines)) + len(lines)
    length = min(_END, count.offset)
    count.end = os.pread(fd, length, count.offset - length)


def stamp_of(found: FoundTranscript) -> tuple[int, int]:
    """Return the size and time by which a file is known to be unchanged."""
    size, mtime = found.size, found.mtime_ns
    if (
        counting_of(found.client).conversations is not None
    ):  # what was written last stands beside it
        try:
            beside = os.stat(f"{found.path}-wal")
        except OSError:
            return size, mtime
        return size + beside.st_size, max(mtime, beside.st_mtime_ns)
    return size, mtime


def alone(client: str, path: Path) -> FoundTranscript:
    """Return one file as a walk would have found it. Raises OSError."""
    status = os.stat(path)
    return FoundTranscript(client, path, status.st_size, status.st_mtime_ns)


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
