"""The sessions of one project: list, find, open and continue them."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from siding.agents.transcripts.heads import parsed
from siding.agents.transcripts.kinds import ASSISTANT, CHAIN_TYPES, Record
from siding.agents.transcripts.layout import SessionLayout
from siding.agents.transcripts.messages import tool_uses
from siding.agents.transcripts.reading.listing import WINDOW_BYTES, ListedSession, listed
from siding.agents.transcripts.reading.metadata import (
    Index,
    Metadata,
    metadata_before,
    read_index,
    updated,
    write_index,
)
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.writer import Resumed, Stamp, Writer
from siding.ground.errors import NotFound, UnreadableFile, UsageError
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.documents import listed_ids
from siding.ground.storage.lines import lines_backwards, lines_forwards
from siding.ground.storage.locks import Holder

_MOST_UNREAD = 64 << 20  # bytes that a list may read of one file to find its title
_CALLERS_LOOKED_AT = 64  # answers, from the end; enough, as a result comes right after its call
Unreadable = UnreadableFile | OSError  # why the file of a session is not read


class SessionRow(NamedTuple):
    """A session in a list; `size` in bytes.

    `changed_at` is the time of its newest message. `written_at` is the time of the last write to
    its file, by an import for example. Both are in seconds since 1970, and equal when no message
    has a time.
    """

    id: str
    path: Path
    size: int
    changed_at: float
    written_at: float
    listed: ListedSession


class SessionStore:
    """The directory of a project's sessions. Reading needs no lock and creates no session.

    With `caches` the indexes are kept there: `root` belongs to another program and is only read.
    """

    def __init__(self, root: Path, *, caches: Path | None = None) -> None:
        self.root = root
        self.caches = caches

    def layout(self, session_id: str) -> SessionLayout:
        """Return the paths of a session's files; the session need not exist."""
        return SessionLayout(root=self.root, session_id=session_id, caches=self.caches)

    def ids(self) -> list[str]:
        """Return the ids of all sessions, in no particular order."""
        return listed_ids(self.root, suffix=".jsonl")

    def rows(
        self, *, hidden: bool = False, report: Callable[[Unreadable], None] | None = None
    ) -> list[SessionRow]:
        """Return the sessions, the one with the newest message first.

        Of equally new ones, such as a branch and its source, the one written last comes first.
        Files that cannot be read are left out; `report` gets the errors. With `hidden`, side
        conversations are included.
        """
        found = []
        for session_id in self.ids():
            try:
                found.append(self.row(session_id))
            except (UnreadableFile, OSError) as error:
                if report is not None:
                    report(error)
        shown = [row for row in found if hidden or not row.listed.hidden]
        return sorted(shown, key=lambda row: (-row.changed_at, -row.written_at, row.id))

    def row(self, session_id: str) -> SessionRow:
        """Return one session's row for a list. Raises OSError or UnreadableFile."""
        layout = self.layout(session_id)
        status = layout.transcript.stat()
        found = listed_file(layout.transcript, read_index(layout.index_json))
        spoken_at = found.spoken_at
        return SessionRow(
            id=session_id,
            path=layout.transcript,
            size=status.st_size,
            changed_at=status.st_mtime if spoken_at is None else spoken_at / 1000,
            written_at=status.st_mtime,
            listed=found,
        )

    def require(self, named: str) -> str:
        """Return the id of the session that `named` means: an id, its beginning, or a title.

        Raises NotFound if there is none, UsageError if there are several.
        """
        ids = self.ids()
        if named in ids:
            return named
        found = [each for each in ids if named and each.startswith(named)]
        if not found:
            found = [row.id for row in self.rows(hidden=True) if row.listed.title == named]
        if len(found) > 1:
            raise UsageError(
                f"{named!r} fits several sessions: {', '.join(sorted(found)[:5])}",
                hint="give more of the session's id",
            )
        if not found:
            raise NotFound(
                f"there is no session {named!r} in the project's home",
                hint="`siding session list` shows all; one in the home of an agent is only read "
                "there: `siding session import FILE` brings it in",
            )
        return found[0]

    def newest(self) -> str:
        """Return the id of the session with the newest message.

        Raises NotFound, or if none can be read, what kept the first from being read.
        """
        unreadable: list[Unreadable] = []
        rows = self.rows(report=unreadable.append)
        if unreadable and not rows:
            raise unreadable[0]
        if not rows:
            raise NotFound("there is no session yet", hint="`siding session import` brings one in")
        return rows[0].id

    def live(self, session_id: str) -> Transcript:
        """Open a session and read its live end; raises NotFound."""
        return self._open(session_id, Transcript.live)

    def whole(self, session_id: str) -> Transcript:
        """Open a session and read all of it; raises NotFound."""
        return self._open(session_id, Transcript.whole)

    def index(self, session_id: str) -> Index:
        """Return the session's up-to-date index; store it too, if it can be written."""
        layout = self.layout(session_id)
        before = read_index(layout.index_json)
        index = updated(layout.transcript, before)
        if index != before:
            with suppress(OSError):
                write_index(layout.index_json, index)
        return index

    def first_entrypoint(self, session_id: str) -> str:
        """Return what wrote the first message of a session: its client. "" if it does not say."""
        fd, _ = open_with_stat(self.layout(session_id).transcript)
        try:
            messages = (
                each for each in _readable(_lines_of_head(fd)) if each.get("type") in CHAIN_TYPES
            )
            found = next(messages, {}).get("entrypoint")
        finally:
            os.close(fd)
        return found if isinstance(found, str) else ""

    def title(self, session_id: str, transcript: Transcript) -> str | None:
        """Return the title of an open session; read no more of the file than a list does."""
        found = transcript.metadata().title(session_id)
        return found or self.row(session_id).listed.title

    def metadata(self, session_id: str, transcript: Transcript) -> Metadata:
        """Return all metadata of an open session, also from the part of the file not read yet."""
        found = transcript.metadata()
        if transcript.start != 0:
            before = metadata_before(transcript.path, self.index(session_id), transcript.start)
            found = _merged(before, found)
        end = transcript.end()
        named = (transcript.record(end) or {}).get("sessionId") if end is not None else None
        if isinstance(named, str) and named != session_id:
            found.aliases[session_id] = named
        return found

    def writer(
        self,
        session_id: str,
        *,
        stamp: Stamp,
        now: Callable[[], str],
        new_id: Callable[[], str],
        holder: Holder | None = None,
        attachments: bool = False,
        background: bool = False,
    ) -> Writer:
        """Return a writer for a new or an existing session.

        Raises `LockBusy` when another process writes to the session. If its last message is a
        boundary, a compaction was cut off before its summary was stored; the boundary is withdrawn.
        """
        layout = self.layout(session_id)
        writer = Writer(
            layout,
            stamp=stamp,
            now=now,
            new_id=new_id,
            holder=holder,
            attachments=attachments,
            background=background,
        )
        try:
            if writer.exists:
                self._take_up(writer)
        except BaseException:
            writer.close()
            raise
        return writer

    def _take_up(self, writer: Writer) -> None:
        """Tell a writer, which holds the lock, what is in the file."""
        writer.close_last_line()
        resumed = self.resumed(writer.session_id)
        writer.resume(resumed)
        if resumed.unfinished is not None:
            writer.withdraw(resumed.unfinished)
            writer.resume(self.resumed(writer.session_id))

    def resumed(self, session_id: str) -> Resumed:
        """Return what a writer must know to continue a session; raises NotFound, NewerVersion."""
        with self.live(session_id) as transcript:
            transcript.require_known_version()
            end = transcript.end()
            chain = transcript.chain()
            answers = [head for head in chain if head.kind == ASSISTANT]
            recent = transcript.records(answers[-_CALLERS_LOOKED_AT:])
            return Resumed(
                known=frozenset(transcript.tree.heads),
                cursor=end.uuid if end else None,
                callers={
                    str(call.get("id")): str(record["uuid"])
                    for record in recent
                    for call in tool_uses(record)
                },
                parents={
                    head.uuid: transcript.tree.parent_id(head)
                    for head in chain[-_CALLERS_LOOKED_AT:]
                },
                metadata=self.metadata(session_id, transcript),
                unfinished=end.uuid if end and end.uuid in transcript.tree.unfinished() else None,
            )

    def _open(self, session_id: str, how: Callable[[Path], Transcript]) -> Transcript:
        try:
            return how(self.layout(session_id).transcript)
        except FileNotFoundError:
            raise NotFound(
                f"there is no session {session_id!r}", hint="`siding session list` shows them"
            ) from None


def listed_file(path: Path, index: Index | None = None) -> ListedSession:
    """Return the line about a transcript for a list, read from the two ends of its file.

    A title that is in neither end comes from the index. The index is extended for that only if
    less than 64 MiB are missing, as a list must be quick; writers repeat the title near the end.
    """
    fd, status = open_with_stat(path)
    try:
        head = list(_readable(_lines_of_head(fd)))
        small = status.st_size <= WINDOW_BYTES
        tail = head if small else list(_readable(_lines_of_tail(fd, status.st_size)))[::-1]
    finally:
        os.close(fd)
    found = listed(head, tail)
    if found.title is not None or status.st_size <= 2 * WINDOW_BYTES:
        return found
    index = index or Index()
    if status.st_size - index.covered <= _MOST_UNREAD:
        index = updated(path, index)
    before = metadata_before(path, index, index.covered)
    titles = [before.title(session) for session in ({p.session for p in index.metadata} or {""})]
    return found._replace(title=next((title for title in titles if title), None))


def _lines_of_head(fd: int) -> Iterator[bytes]:
    for line in lines_forwards(fd):
        if line.offset >= WINDOW_BYTES:
            return
        if line.is_closed and not line.is_too_long:
            yield line.raw


def _lines_of_tail(fd: int, size: int) -> Iterator[bytes]:
    for line in lines_backwards(fd, size):
        if line.end <= size - WINDOW_BYTES:
            return
        if line.is_closed and not line.is_too_long:
            yield line.raw


def _readable(lines: Iterator[bytes]) -> Iterator[Record]:
    for raw in lines:
        with suppress(NotJson):
            yield parsed(raw)


def _merged(before: Metadata, found: Metadata) -> Metadata:
    """Return `found`, the metadata of the part that was read, with `before`, that of the rest."""
    after = {kind: dict(entries) for kind, entries in found.last.items()}
    for kind, entries in before.last.items():
        found.last[kind] = {**entries, **found.last.get(kind, {})}
    for session in found.cleared:
        if session not in after.get("goal", {}):
            found.last.get("goal", {}).pop(session, None)
    found.summaries = {**before.summaries, **found.summaries}
    found.task_summary = found.task_summary or before.task_summary
    found.cost_state = found.cost_state or before.cost_state
    for session, replaced in before.replacements.items():
        found.replacements[session] = replaced + found.replacements.get(session, [])
    for agent, replaced in before.agent_replacements.items():
        found.agent_replacements[agent] = replaced + found.agent_replacements.get(agent, [])
    return found
