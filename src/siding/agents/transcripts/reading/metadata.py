"""The metadata of a transcript: titles, modes, goals, replaced tool results; where they are.

Entries are added in file order. Which of them count depends on the type: the last one, all of them,
or (for context collapses) all since the newest compaction. See the table in `FORMAT.md`.

An index keeps where the entries are, so that they need not be searched for: they may be anywhere in
the file. It holds no messages. It is a cache: it is extended by reading only what was added, and
made again when it does not fit the file. Making it takes two to three seconds for 4 GB.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from siding.agents.transcripts.heads import MessageHead, look, parsed
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.messages import is_boundary
from siding.agents.transcripts.reading.locate import lines_from, read_at
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.lines import lines_forwards

# type -> the field that is its value; the last entry of a session counts, "" clears it.
_LAST_BY_SESSION = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "tag": "tag",
    "agent-name": "agentName",
    "agent-color": "agentColor",
    "agent-setting": "agentSetting",
    "mode": "mode",
    "last-prompt": "lastPrompt",
    "worktree-state": "worktreeSession",
    "goal": "state",
}
# What must be written again near the end so that other programs, which look only there, find it.
REPEATED = tuple(
    """
    last-prompt custom-title tag agent-name agent-color agent-setting mode goal worktree-state
    pr-link
    """.split()
)
TYPES = frozenset(_LAST_BY_SESSION) | set(
    """
    summary pr-link goal-cleared task-summary file-history-snapshot cost-state attribution-snapshot
    content-replacement marble-origami-commit marble-origami-snapshot queue-operation
    speculation-accept foreign-line
    """.split()
)


class Metadata:
    """The metadata of a transcript. Keys are session ids, message ids or agent ids.

    `aliases`: for a session whose file was renamed, the id that its lines have.
    """

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.last: dict[str, dict[str, Record]] = {}
        self.cleared: set[str] = set()  # sessions whose goal was cleared at some time
        self.summaries: dict[str, str] = {}
        self.task_summary: Record | None = None
        self.file_history: dict[str, Record] = {}
        self.attributions: list[Record] = []
        self.replacements: dict[str, list[Record]] = {}
        self.agent_replacements: dict[str, list[Record]] = {}
        self.collapses: list[Record] = []
        self.collapse_snapshot: Record | None = None
        self.cost_state: Record | None = None

    def add(self, record: Record) -> None:
        """Add the next record of the file; messages other than boundaries change nothing."""
        kind = record.get("type")
        if is_boundary(record):
            self.collapses = []
            self.collapse_snapshot = None
        elif not isinstance(kind, str):
            return
        elif kind in _LAST_BY_SESSION or kind == "pr-link":
            self.last.setdefault(kind, {})[_text(record.get("sessionId"))] = record
        elif kind == "goal-cleared":
            self.cleared.add(_text(record.get("sessionId")))
            self.last.get("goal", {}).pop(_text(record.get("sessionId")), None)
        else:
            self._add_other(kind, record)

    def _add_other(self, kind: str, record: Record) -> None:
        if kind == "summary":
            self.summaries[_text(record.get("leafUuid"))] = _text(record.get("summary"))
        elif kind == "task-summary":
            self.task_summary = record
        elif kind == "file-history-snapshot":
            self.file_history[_text(record.get("messageId"))] = record
        elif kind == "attribution-snapshot":
            self.attributions.append(record)
        elif kind == "content-replacement":
            self._add_replacement(record)
        elif kind == "marble-origami-commit":
            self.collapses.append(record)
        elif kind == "marble-origami-snapshot":
            self.collapse_snapshot = record
        elif kind == "cost-state":
            self.cost_state = record

    def _add_replacement(self, record: Record) -> None:
        found = record.get("replacements")
        if not isinstance(found, list):
            return
        agent = record.get("agentId")
        if isinstance(agent, str) and agent:
            target = self.agent_replacements.setdefault(agent, [])
        else:
            target = self.replacements.setdefault(_text(record.get("sessionId")), [])
        target.extend(each for each in found if isinstance(each, dict))

    def record(self, kind: str, session: str) -> Record | None:
        """Return the entry of that type that counts for the session, None if there is none."""
        entries = self.last.get(kind, {})
        for name in (session, self.aliases.get(session), ""):
            if name is not None and name in entries:
                return entries[name]
        return None

    def value(self, kind: str, session: str) -> Any:
        """Return the value of the entry that counts, None when there is none or it is cleared."""
        record = self.record(kind, session)
        if record is None:
            return None
        return record.get(_LAST_BY_SESSION[kind]) or None

    def title(self, session: str) -> str | None:
        """Return the title a person gave, else the one a model made up."""
        found = self.value("custom-title", session) or self.value("ai-title", session)
        return found if isinstance(found, str) else None

    def worktree(self, session: str) -> Record | None:
        """Return the worktree the session was in; None if it left it or never entered one."""
        found = self.value("worktree-state", session)
        return found if isinstance(found, dict) else None

    def pull_request(self, session: str) -> Record | None:
        """Return the newest link to a pull request."""
        return self.record("pr-link", session)

    def replacements_of(self, session: str) -> list[Record]:
        """Return the replaced tool results of the session itself, without its subagents'."""
        names = dict.fromkeys((self.aliases.get(session, session), session, ""))
        return [each for name in names for each in self.replacements.get(name, [])]

    def file_states(self, chain: Iterable[str]) -> list[Record]:
        """Return the file snapshots of the messages in `chain`, in its order.

        An update replaces the earlier snapshot of the same message.
        """
        found: list[Record] = []
        places: dict[str, int] = {}
        for uuid in chain:
            entry = self.file_history.get(uuid)
            snapshot = entry.get("snapshot") if entry else None
            if entry is None or not isinstance(snapshot, dict):
                continue
            message = _text(snapshot.get("messageId"))
            if entry.get("isSnapshotUpdate") and message in places:
                found[places[message]] = snapshot
            else:
                places[message] = len(found)
                found.append(snapshot)
        return found

    def repeated(self, session: str) -> list[Record]:
        """Return the entries to write again near the file's end, in the order of `REPEATED`."""
        found = (self.record(kind, session) for kind in REPEATED)
        return [record for record in found if record is not None]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


# -- Where the metadata is: the index --------------------------------------------------------------

VERSION = 2
_MARK_BYTES = 64
_MESSAGE = b'{"parentUuid":'  # how the lines of messages begin, ours and Claude Code's
# Every entry of these types counts; of the types in _LAST only the last entry of each session.
_EVERY = ("summary", "content-replacement")
_LAST = (*REPEATED, "ai-title", "task-summary", "cost-state", "goal-cleared")


class MetadataPlace(NamedTuple):
    """Where a metadata entry is (bytes, without the newline), its type and its session's id."""

    type: str
    session: str
    offset: int
    size: int


class Index(NamedTuple):
    """The metadata in the first `covered` bytes; `mark` is the last 64 of them, in hex.

    A file that does not have `mark` there is another file, or was rewritten.
    """

    covered: int = 0
    mark: str = ""
    metadata: tuple[MetadataPlace, ...] = ()


def read_index(path: Path) -> Index:
    """Return the stored index, or an empty one when there is none or it cannot be read."""
    try:
        document = read_document_or_none(path, what="session index", version=VERSION)
        return Index() if document is None else _index_in(document)
    except (SidingError, OSError, TypeError, ValueError, KeyError):
        return Index()


def write_index(path: Path, index: Index) -> None:
    """Store the index. Raises OSError, which readers should ignore: it is only a cache."""
    if not path.parent.is_dir():
        make_dirs(path.parent)
    write_document(path, {"version": VERSION, **index._asdict()})


def updated(transcript: Path, index: Index) -> Index:
    """Return the index of the whole file, reading only what `index` does not cover."""
    fd, status = open_with_stat(transcript)
    try:
        if not _fits(fd, status.st_size, index):
            index = Index()
        return _extended(fd, status.st_size, index)
    finally:
        os.close(fd)


def metadata_before(transcript: Path, index: Index, stop: int) -> Metadata:
    """Return the metadata in the first `stop` bytes."""
    metadata = Metadata()
    fd, _ = open_with_stat(transcript)
    try:
        for place in sorted(index.metadata, key=lambda each: each.offset):
            if place.offset >= stop:
                break
            try:
                metadata.add(parsed(read_at(fd, place.offset, place.size)))
            except NotJson:
                continue
    finally:
        os.close(fd)
    return metadata


def _fits(fd: int, size: int, index: Index) -> bool:
    return index.covered <= size and _mark(fd, index.covered) == index.mark


def _mark(fd: int, covered: int) -> str:
    start = max(covered - _MARK_BYTES, 0)
    return read_at(fd, start, covered - start).hex()


def _extended(fd: int, size: int, index: Index) -> Index:
    last = {(each.type, each.session): each for each in index.metadata if each.type not in _EVERY}
    every = [each for each in index.metadata if each.type in _EVERY]
    covered = index.covered
    for offset, raw in _lines(fd, covered, size):
        covered = offset + len(raw) + 1
        # Nine lines of ten are messages. Comparing their first bytes is far cheaper than decoding.
        place = None if raw.startswith(_MESSAGE) else _place(raw, offset)
        if place is None:
            continue
        if place.type in _EVERY:
            every.append(place)
        else:
            last[place.type, place.session] = place
    return Index(
        covered=covered,
        mark=_mark(fd, covered),
        metadata=tuple(sorted([*last.values(), *every], key=lambda each: each.offset)),
    )


def _lines(fd: int, start: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of each line that ends with a newline before `size`.

    A line that is too long to be read is skipped.
    """
    while start < size:
        for offset, lines in lines_from(fd, start, size):
            start = offset
            for raw in lines:
                yield start, raw
                start += len(raw) + 1
        rest = next(lines_forwards(fd, start), None)
        if rest is None or rest.end > size or not rest.is_closed:
            return
        start = rest.end


def _place(raw: bytes, offset: int) -> MetadataPlace | None:
    """Return the place of a metadata entry; None for any other line and for a damaged one."""
    if not raw or raw.isspace():
        return None
    try:
        seen = look(raw, offset)
    except NotJson:
        return None
    if isinstance(seen, MessageHead) or (seen.type not in _EVERY and seen.type not in _LAST):
        return None
    session = str(parsed(raw).get("sessionId") or "")
    return MetadataPlace(type=seen.type, session=session, offset=offset, size=len(raw))


def _index_in(document: dict[str, Any]) -> Index:
    return Index(
        covered=int(document["covered"]),
        mark=str(document["mark"]),
        metadata=tuple(
            MetadataPlace(type=str(kind), session=str(session), offset=int(offset), size=int(size))
            for kind, session, offset, size in document["metadata"]
        ),
    )
