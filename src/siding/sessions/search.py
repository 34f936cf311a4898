"""Full-text search over all sessions of a project.

The index (SQLite FTS5) is a cache beside the transcripts. Before each search it is extended by
reading what was added to them; it is made again when it is damaged or does not fit a file. It holds
words and places but no text: snippets come from the transcripts.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from siding.errors import UnreadableFile
from siding.files.durable import make_dirs
from siding.files.regular import open_with_stat
from siding.namedtuples import NamedTuple
from siding.sessions.heads import TOO_ODD, parsed
from siding.sessions.kinds import CHAIN_TYPES, Record
from siding.sessions.layout import SessionLayout
from siding.sessions.messages import content_of
from siding.sessions.reading.listing import shortened
from siding.sessions.reading.locate import lines_from, read_at
from siding.storage.codec import NotJson

VERSION = 1
MOST_TEXT = 64 * 1024  # characters of one message that are searched
_MARK_BYTES = 64
_BATCH = 2000
_SCHEMA = """
create table if not exists files (
    id integer primary key, path text unique, session text, agent text,
    covered integer, mark blob
);
create table if not exists places (
    id integer primary key, file integer, offset integer, size integer, kind text, moment text
);
create virtual table if not exists words using fts5(
    text, content='', tokenize='unicode61 remove_diacritics 2'
);
"""

_UNWRITABLE = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_CLEAN = "drop table if exists files; drop table if exists places; drop table if exists words;"


class Hit(NamedTuple):
    """A message that was found. `snippet`: about 120 characters around the first search term.

    `agent_id` is "" for the session's own messages; `kind` is the type of the line.
    """

    session_id: str
    agent_id: str
    uuid: str
    kind: str
    timestamp: str
    snippet: str


class SearchIndex:
    """The index of one directory of sessions. Use it in a ``with`` block, which closes it."""

    def __init__(self, root: Path, *, in_memory: bool = False) -> None:
        self.root = root
        self.path = root / "search.sqlite3"
        self._database = _prepared(":memory:") if in_memory else self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def update(self, layouts: Iterable[SessionLayout]) -> int:
        """Index what was added to these sessions; return the number of messages added."""
        count = 0
        for layout in layouts:
            paths = [(layout.transcript, ""), *((path, path.stem[6:]) for path in layout.agents())]
            for path, agent in paths:
                with suppress(FileNotFoundError, UnreadableFile):
                    count += self._update_file(path, layout.session_id, agent)
        return count

    def search(
        self,
        words: str,
        *,
        limit: int = 50,
        session: str | None = None,
        mask: Callable[[str], str] | None = None,
    ) -> list[Hit]:
        """Return the best matches, at most `limit`. All words must occur; quoted parts literally.

        `mask` removes secrets from a message's text before its snippet is cut out.
        """
        query = _query(words)
        if not query:
            return []
        rows = self._database.execute(
            "select p.offset, p.size, p.kind, p.moment, f.path, f.session, f.agent"
            " from words w join places p on p.id = w.rowid join files f on f.id = p.file"
            " where words match ? and (? is null or f.session = ?)"
            " order by rank limit ?",
            (query, session, session, limit),
        ).fetchall()
        terms = [term.strip('"') for term in _terms(words)]
        return [hit for row in rows if (hit := self._hit(row, terms, mask)) is not None]

    def _open(self) -> sqlite3.Connection:
        make_dirs(self.root)
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise  # the file is locked or read-only, not damaged: do not delete it
        except sqlite3.DatabaseError:
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        database = _prepared(self.path)
        try:
            self.path.chmod(0o600)
        except BaseException:
            database.close()
            raise
        return database

    def _update_file(self, path: Path, session: str, agent: str) -> int:
        """Index what was added to one transcript; return the number of messages added."""
        name = str(path.relative_to(self.root))
        fd, status = open_with_stat(path)
        try:
            row = self._database.execute(
                "select id, covered, mark from files where path = ?", (name,)
            ).fetchone()
            if row is not None and row[1] == status.st_size and row[2] == _mark(fd, row[1]):
                return 0
            self._database.execute("begin immediate")
            try:
                count = self._add_lines(fd, status.st_size, name, session, agent)
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")
            return count
        finally:
            os.close(fd)

    def _add_lines(self, fd: int, size: int, name: str, session: str, agent: str) -> int:
        database = self._database
        # Read again: another process may have indexed the file before our transaction began.
        row = database.execute(
            "select id, covered, mark from files where path = ?", (name,)
        ).fetchone()
        if row is None:
            cursor = database.execute(
                "insert into files (path, session, agent, covered, mark) values (?, ?, ?, 0, ?)",
                (name, session, agent, b""),
            )
            row = (cursor.lastrowid, 0, b"")
        file, covered, mark = row
        if covered > size or mark != _mark(fd, covered):
            # It is another file now. A contentless FTS5 table (content='') cannot delete rows, so
            # the old words stay; without places they are never found.
            database.execute("delete from places where file = ?", (file,))
            covered = 0
        next_id = database.execute("select coalesce(max(id), 0) from places").fetchone()[0] + 1
        last = database.execute("select max(rowid) from words_docsize").fetchone()[0] or 0
        next_id = max(next_id, last + 1)
        count = 0
        places: list[tuple[Any, ...]] = []
        texts: list[tuple[int, str]] = []
        for offset, lines in lines_from(fd, covered, size):
            at = offset
            for raw in lines:
                found = _searchable(raw)
                if found is not None:
                    kind, moment, text = found
                    places.append((next_id + count, file, at, len(raw), kind, moment))
                    texts.append((next_id + count, text))
                    count += 1
                at += len(raw) + 1
            covered = at
            if len(texts) >= _BATCH:
                self._insert(places, texts)
        self._insert(places, texts)
        database.execute(
            "update files set covered = ?, mark = ? where id = ?",
            (covered, _mark(fd, covered), file),
        )
        return count

    def _insert(self, places: list[tuple[Any, ...]], texts: list[tuple[int, str]]) -> None:
        self._database.executemany("insert into places values (?, ?, ?, ?, ?, ?)", places)
        self._database.executemany("insert into words (rowid, text) values (?, ?)", texts)
        places.clear()
        texts.clear()

    def _hit(
        self, row: tuple[Any, ...], terms: list[str], mask: Callable[[str], str] | None
    ) -> Hit | None:
        offset, size, kind, moment, name, session, agent = row
        try:
            fd, _ = open_with_stat(self.root / name)
        except (FileNotFoundError, UnreadableFile):
            return None
        try:
            record = parsed(read_at(fd, offset, size))
        except NotJson:
            return None
        finally:
            os.close(fd)
        text = searched_text(record)
        return Hit(
            session_id=session,
            agent_id=agent,
            uuid=str(record.get("uuid", "")),
            kind=kind,
            timestamp=moment,
            snippet=snippet(mask(text) if mask else text, terms),
        )


def search_all(
    root: Path,
    layouts: Sequence[SessionLayout],
    words: str,
    *,
    limit: int = 50,
    session: str | None = None,
    mask: Callable[[str], str] | None = None,
) -> list[Hit]:
    """Bring the index of a directory of sessions up to date and search it; see `SearchIndex`.

    If the index cannot be written, because the disk is full or the home is read-only, all sessions
    are read into an index in memory. That takes longer and finds the same.
    """
    try:
        with SearchIndex(root) as index:
            index.update(layouts)
            return index.search(words, limit=limit, session=session, mask=mask)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _UNWRITABLE:  # the low byte is the kind of error
            raise
    with SearchIndex(root, in_memory=True) as index:
        index.update(layouts)
        return index.search(words, limit=limit, session=session, mask=mask)


def _prepared(path: Path | str) -> sqlite3.Connection:
    """Open an index and make what it consists of if it has not the present version."""
    database = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    try:
        # No fsync: it is a cache, and damage from a power cut is noticed when it is opened.
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = off")
        found = database.execute("pragma user_version").fetchone()[0]
        if found not in (0, VERSION):
            database.executescript(_CLEAN)
        database.executescript(_SCHEMA)
        database.execute(f"pragma user_version = {VERSION}")
    except BaseException:
        database.close()
        raise
    return database


def searched_text(record: Record) -> str:
    """Return the searchable text of a message: what was said, tool calls and their results.

    It is cut after `MOST_TEXT` characters.
    """
    return " ".join(_words(content_of(record)))[:MOST_TEXT]


def snippet(text: str, terms: Iterable[str], width: int = 120) -> str:
    """Return the text around the first occurrence of a term, cut to `width` characters."""
    folded = text.casefold()
    places = [at for term in terms if (at := folded.find(term.casefold())) >= 0]
    start = max(0, min(places, default=0) - width // 3)
    return ("…" if start else "") + shortened(text[start : start + 2 * width], width)


class _Found(msgspec.Struct, gc=False):
    type: str = ""
    timestamp: Any = ""
    message: dict[str, Any] | None = None


_DECODER = msgspec.json.Decoder(_Found)


def _searchable(raw: bytes) -> tuple[str, str, str] | None:
    try:
        found = _DECODER.decode(raw)
    except TOO_ODD:
        return None
    if found.type not in CHAIN_TYPES or found.message is None:
        return None
    text = " ".join(_words(found.message.get("content")))[:MOST_TEXT]
    moment = found.timestamp if isinstance(found.timestamp, str) else ""
    return (found.type, moment, text) if text else None


def _words(value: Any) -> Iterator[str]:
    """Yield the texts of a message's content: text, input and result of its blocks."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _words(each)
    elif isinstance(value, dict):
        for key in ("text", "thinking", "name", "input", "content"):
            if key in value:
                yield from _values(value[key]) if key == "input" else _words(value[key])


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _values(each)


def _terms(words: str) -> list[str]:
    """Return the search words and quoted parts, each quoted for an FTS5 query."""
    terms: list[str] = []
    for number, part in enumerate(words.split('"')):
        terms += [part] if number % 2 else part.split()
    return [f'"{term}"' for term in terms if any(letter.isalnum() for letter in term)]


def _query(words: str) -> str:
    terms = _terms(words)
    return " ".join(terms)


def _mark(fd: int, covered: int) -> bytes:
    start = max(covered - _MARK_BYTES, 0)
    return read_at(fd, start, covered - start)
