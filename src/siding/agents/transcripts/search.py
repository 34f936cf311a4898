"""Full-text search over sessions: all of a project, or those found in the homes of agents.

The index (SQLite FTS5) is a cache. Before each search it is extended by
reading what was added to them; it is made again when it is damaged or does not fit a file. It holds
words and places but no text: snippets come from the transcripts.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from siding.agents.table import OUR_FORM
from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.layout import SessionLayout
from siding.agents.transcripts.reading.listing import shortened
from siding.agents.transcripts.reading.locate import lines_from, read_at
from siding.agents.transcripts.summaries import LINES
from siding.ground.errors import UnreadableFile
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson

VERSION = 3
_MARK_BYTES = 64
_BATCH = 2000
_SCHEMA = """
create table if not exists files (
    id integer primary key, path text unique, session text, agent text, client text,
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


class SearchedFile(NamedTuple):
    """A transcript to be searched, in the form of `client`."""

    path: Path
    session_id: str
    agent_id: str = ""
    client: str = OUR_FORM


def files_of(layouts: Iterable[SessionLayout]) -> Iterator[SearchedFile]:
    """Yield the transcripts of sessions, and those of their subagents."""
    for layout in layouts:
        yield SearchedFile(path=layout.transcript, session_id=layout.session_id)
        for path in layout.agents():
            yield SearchedFile(
                path=path, session_id=layout.session_id, agent_id=path.stem.removeprefix("agent-")
            )


class SearchIndex:
    """The index of transcripts, kept in the directory `root`; they may be elsewhere.

    Use it in a ``with`` block, which closes it.
    """

    def __init__(self, root: Path, *, in_memory: bool = False) -> None:
        self.root = root
        self.path = root / "search.sqlite3"
        self._database = _prepared(":memory:") if in_memory else self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def update(self, files: Iterable[SearchedFile]) -> int:
        """Index what was added to these files; return the number of messages added."""
        count = 0
        for each in files:
            with suppress(FileNotFoundError, PermissionError, UnreadableFile):
                count += self._update_file(each)
        return count

    def search(
        self,
        words: str,
        *,
        limit: int = 50,
        session: str | None = None,
        among: Collection[Path] | None = None,
        mask: Callable[[str], str] | None = None,
    ) -> list[Hit]:
        """Return the best matches, at most `limit`. All words must occur; quoted parts literally.

        `among` are the files that count, None: all of the index. `mask` removes secrets from a
        message's text before its snippet is cut out.
        """
        query = _query(words)
        if not query:
            return []
        chosen = None if among is None else json.dumps([self._name(each) for each in among])
        rows = self._database.execute(
            "select p.offset, p.size, p.kind, p.moment, f.path, f.session, f.agent, f.client"
            " from words w join places p on p.id = w.rowid join files f on f.id = p.file"
            " where words match ? and (? is null or f.session = ?)"
            " and (? is null or f.path in (select value from json_each(?)))"
            " order by rank limit ?",
            (query, session, session, chosen, chosen, limit),
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

    def _name(self, path: Path) -> str:
        """Return the path as the index has it: relative to `root` for a file below it."""
        named = path.relative_to(self.root) if path.is_relative_to(self.root) else path
        return os.fsencode(named).decode("utf-8", "backslashreplace")

    def _update_file(self, file: SearchedFile) -> int:
        """Index what was added to one transcript; return the number of messages added."""
        name = self._name(file.path)
        fd, status = open_with_stat(file.path)
        try:
            row = self._database.execute(
                "select id, covered, mark from files where path = ?", (name,)
            ).fetchone()
            if row is not None and row[1] == status.st_size and row[2] == _mark(fd, row[1]):
                return 0
            self._database.execute("begin immediate")
            try:
                count = self._add_lines(fd, status.st_size, name, file)
            except BaseException:
                self._database.execute("rollback")
                raise
            self._database.execute("commit")
            return count
        finally:
            os.close(fd)

    def _add_lines(self, fd: int, size: int, name: str, source: SearchedFile) -> int:
        database = self._database
        # Read again: another process may have indexed the file before our transaction began.
        row = database.execute(
            "select id, covered, mark from files where path = ?", (name,)
        ).fetchone()
        if row is None:
            cursor = database.execute(
                "insert into files (path, session, agent, client, covered, mark)"
                " values (?, ?, ?, ?, 0, ?)",
                (name, source.session_id, source.agent_id, source.client, b""),
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
        searchable = _words_of(source.client)
        for offset, lines in lines_from(fd, covered, size):
            at = offset
            for raw in lines:
                found = searchable(raw)
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
        offset, size, kind, moment, name, session, agent, client = row
        try:
            fd, _ = open_with_stat(self.root / name)
        except (FileNotFoundError, UnreadableFile):
            return None
        try:
            raw = read_at(fd, offset, size)
            record = parsed(raw)
        except NotJson:
            return None
        finally:
            os.close(fd)
        found = _words_of(client)(raw)
        text = "" if found is None else found[2]
        return Hit(
            session_id=session,
            agent_id=agent,
            uuid=str(record.get("uuid") or ""),
            kind=kind,
            timestamp=moment,
            snippet=snippet(mask(text) if mask else text, terms),
        )


def search_all(
    root: Path,
    layouts: Iterable[SessionLayout],
    words: str,
    *,
    limit: int = 50,
    session: str | None = None,
    mask: Callable[[str], str] | None = None,
) -> list[Hit]:
    """Bring the index of a directory of sessions up to date and search it; see `search_files`."""
    files = list(files_of(layouts))
    return _search(root, files, words, limit=limit, session=session, among=None, mask=mask)


def search_files(
    root: Path,
    files: Sequence[SearchedFile],
    words: str,
    *,
    limit: int = 50,
    mask: Callable[[str], str] | None = None,
) -> list[Hit]:
    """Bring the index in the directory `root` up to date and search only these files."""
    among = [each.path for each in files]
    return _search(root, files, words, limit=limit, session=None, among=among, mask=mask)


def _search(
    root: Path,
    files: Sequence[SearchedFile],
    words: str,
    *,
    limit: int,
    session: str | None,
    among: Collection[Path] | None,
    mask: Callable[[str], str] | None,
) -> list[Hit]:
    """Update the index and search it.

    If the index cannot be written, because the disk is full or the home is read-only, all sessions
    are read into an index in memory. That takes longer and finds the same.
    """
    try:
        with SearchIndex(root) as index:
            index.update(files)
            return index.search(words, limit=limit, session=session, among=among, mask=mask)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _UNWRITABLE:  # the low byte is the kind of error
            raise
    except OSError:  # the directory cannot be made
        pass
    with SearchIndex(root, in_memory=True) as index:
        index.update(files)
        return index.search(words, limit=limit, session=session, among=among, mask=mask)


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


def _words_of(client: str) -> Callable[[bytes], tuple[str, str, str] | None]:
    """Return what reads a line of a client; of one that is not known, it reads ours."""
    lines = LINES.of(client) or LINES.of(OUR_FORM)
    assert lines is not None
    return lines.words


def snippet(text: str, terms: Iterable[str], width: int = 120) -> str:
    """Return the text around the first occurrence of a term, cut to `width` characters."""
    folded = text.casefold()
    places = [at for term in terms if (at := folded.find(term.casefold())) >= 0]
    start = max(0, min(places, default=0) - width // 3)
    return ("…" if start else "") + shortened(text[start : start + 2 * width], width)


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
