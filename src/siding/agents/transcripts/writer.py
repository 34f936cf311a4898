"""Write a conversation to its transcript.

- The file is created with the first message of the person or the model. Metadata that was set
  before (title, mode, …) is kept in memory and written with it.
- A prompt, and a message with a tool's call, are on the disk before `append` returns: if the power
  fails while the tool runs, the file must say what was run.
- Progress lines are not written. A message is written once.
- Subagents have their own files; these may repeat messages of the parent's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from siding.agents.transcripts.appender import Appender, WriteQueue, append_lines
from siding.agents.transcripts.kinds import (
    ATTACHMENT,
    CHAIN_TYPES,
    FORMAT_VERSION,
    SPOKEN,
    USER,
    Record,
)
from siding.agents.transcripts.layout import SessionLayout
from siding.agents.transcripts.messages import is_boundary, is_tool_result, tool_results, tool_uses
from siding.agents.transcripts.reading.metadata import Metadata
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import Holder
from siding.ground.storage.writes import encode_line

OURS = "siding"  # the entrypoint of messages that are written here
REPEAT_AFTER_BYTES = 48 * 1024  # Claude Code (2.1.197) looks for titles in the last 64 KiB
_FIRST_KEYS = ("teamName", "agentName", "promptId", "agentId")
_LAST_KEYS = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug", "v")


class Stamp(NamedTuple):
    """The fields that every message gets: the directory, branch and program it was made in."""

    cwd: str
    version: str
    git_branch: str = ""
    user_type: str = "external"
    entrypoint: str = OURS
    slug: str = ""


class Resumed(NamedTuple):
    """What a writer must know about the file that it continues.

    `known`: ids of all messages. `cursor`: the id of the last one. `callers`: for each of the
    newest tool calls, the id of the message that made it. `parents`: the parents of the newest
    messages. `unfinished`: the id of a boundary that is the last message.
    """

    known: frozenset[str]
    cursor: str | None
    callers: Mapping[str, str]
    metadata: Metadata
    unfinished: str | None = None
    parents: Mapping[str, str | None] = MappingProxyType({})


class WriterClosed(SidingError):
    """A writer was used after it was closed; nothing was written.

    Another process may have written to the session since.
    """

    code = "writer_closed"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"the writer of session {session_id!r} is closed", hint="open the session again"
        )
        self.session_id = session_id


class Writer:
    """The one writer of a session. Close it, or use it in a ``with`` block.

    For a session that exists, the lock is taken at once (`LockBusy`: another process has it), and
    `resume` must be called before anything is written. For a new session, the lock is taken with
    the first message. After `close` every method but `close` raises `WriterClosed`.

    Without `background` every call returns after its lines are stored. With it, a call returns at
    once unless it writes a prompt or a tool's call; these, and all lines before them, are waited
    for. `flush` waits for the rest.
    """

    def __init__(
        self,
        layout: SessionLayout,
        *,
        stamp: Stamp,
        now: Callable[[], str],
        new_id: Callable[[], str],
        holder: Holder | None = None,
        attachments: bool = False,
        background: bool = False,
    ) -> None:
        self.layout = layout
        self.session_id = layout.session_id
        self.stamp = stamp
        self.metadata = Metadata()
        self.cursor: str | None = None
        self._now = now
        self._new_id = new_id
        self._known: set[str] = set()
        self._callers: dict[str, str] = {}
        self._parents: dict[str, str | None] = {}
        self._exists = layout.transcript.exists()
        self._pending: list[Record] = []
        self._attachments = attachments
        self._since_repeat = 0
        self._holder = holder
        self._appender: Appender | None = None
        self._queue: WriteQueue | None = None
        self._closed = False
        if self._exists:
            self._appender = Appender(layout.transcript, holder=holder)
        if background:
            self._queue = WriteQueue(self._append)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def exists(self) -> bool:
        """Whether the session's file is there."""
        return self._exists

    def close_last_line(self) -> None:
        """End the last line, if a killed writer left it without a newline."""
        self._require_open()
        if self._appender is not None:
            self._appender.append(())

    def resume(self, resumed: Resumed) -> None:
        """Set the state of the writer to that of an existing file."""
        self.metadata = resumed.metadata
        self.cursor = resumed.cursor
        self._known = set(resumed.known)
        self._callers = dict(resumed.callers)
        self._parents = dict(resumed.parents)

    def append(self, messages: Iterable[Record], *, durable: bool = False) -> list[Record]:
        """Write messages after the last one; return the records as written.

        Messages whose id is in the file already are skipped.
        """
        return self._write(messages, self.cursor, durable=durable)

    def record(
        self, messages: Iterable[Record], *, parent: str | None = None, durable: bool = True
    ) -> list[Record]:
        """Write the new messages of a conversation given from its beginning, or after `parent`.

        Messages already in the file are skipped; the last one skipped becomes the parent of the
        first new message. Return the records as written.
        """
        return self._write(messages, parent, durable=durable)

    def append_to_agent(
        self,
        agent_id: str,
        messages: Iterable[Record],
        *,
        parent: str | None = None,
        group: str = "",
    ) -> list[Record]:
        """Write messages to a subagent's own file, after `parent`; return the records as written.

        Messages that the session's file has are written too: a fork starts with messages of its
        parent, and its file must hold them.
        """
        written: list[Record] = []
        for message in self._clean(messages):
            record = self._stamped(message, parent, agent_id)
            parent = record["uuid"]
            written.append(record)
        path = self.layout.agent_transcript(agent_id, group)
        self._require_open()
        self._store_at(path, written, durable=any(map(_must_be_stored, written)))
        return written

    def set(self, entry: Record) -> None:
        """Write a metadata entry, given without its session id.

        Before the first message it is only kept in memory.
        """
        self._require_open()
        record = {**entry, "sessionId": self.session_id, "v": FORMAT_VERSION}
        agent = entry.get("agentId")
        if entry.get("type") == "content-replacement" and isinstance(agent, str):
            self._store_at(self.layout.agent_transcript(agent), [record], durable=False)
            return
        self.metadata.add(record)
        if self._exists:
            self._store([record], durable=self._queue is None)
        else:
            self._pending = [each for each in self._pending if not _supersedes(record, each)]
            self._pending.append(record)

    def withdraw(self, uuid: str) -> None:
        """Withdraw a message. Its line stays in the file, but readers no longer show it.

        If it was the last one, the conversation goes on after its parent.
        """
        self._require_open()
        self._store(
            [
                {
                    "type": "tombstone",
                    "uuid": uuid,
                    "sessionId": self.session_id,
                    "timestamp": self._now(),
                    "v": FORMAT_VERSION,
                }
            ],
            durable=True,
        )
        if self.cursor == uuid:
            self.cursor = self._parents.get(uuid)

    def repeat_metadata(self) -> None:
        """Write the metadata again, so that it is near the end of the file."""
        self._require_open()
        if self._exists:
            repeated = self.metadata.repeated(self.session_id)
            if repeated:
                self._store(repeated, durable=False)
            self._since_repeat = 0

    def flush(self) -> None:
        """Return when all lines are stored; raise the error that prevents it."""
        self._require_open()
        if self._queue is not None:
            self._queue.flush()

    def close(self) -> None:
        """Store the remaining lines and release the lock. Calling it again does nothing.

        If lines cannot be stored the error is raised and the writer is closed; those lines are then
        not in the file.
        """
        if self._closed:
            return
        try:
            if self._since_repeat > REPEAT_AFTER_BYTES:
                self.repeat_metadata()
            if self._queue is not None:
                self._queue.close()
        finally:
            self._closed = True
            if self._queue is not None:
                self._queue.abandon()
            if self._appender is not None:
                self._appender.close()
                self._appender = None

    def _require_open(self) -> None:
        if self._closed:
            raise WriterClosed(self.session_id)

    def _write(
        self, messages: Iterable[Record], parent: str | None, *, durable: bool
    ) -> list[Record]:
        self._require_open()
        written: list[Record] = []
        new: set[str] = set()
        for message in self._clean(messages):
            uuid = message.get("uuid")
            if isinstance(uuid, str) and (uuid in self._known or uuid in new):
                if not written:
                    parent = uuid
                continue
            record = self._stamped(message, self._parent_of(message, parent, written), None)
            if is_boundary(record):
                record = _as_root(record, parent)
            written.append(record)
            parent = record["uuid"]
            new.add(parent)
        if written:
            self._store(written, durable=durable or any(map(_must_be_stored, written)))
        # Only what is stored, or surely will be, is known: a failed call can be made again.
        self._known |= new
        self._callers |= _callers_in(written)
        self._parents |= {each["uuid"]: each["parentUuid"] for each in written}
        if parent is not None:
            self.cursor = parent
        return written

    def _clean(self, messages: Iterable[Record]) -> Iterable[Record]:
        for message in messages:
            kind = message.get("type")
            if kind not in CHAIN_TYPES or (kind == ATTACHMENT and not self._attachments):
                continue
            yield {key: value for key, value in message.items() if key != "isVirtual"}

    def _parent_of(
        self, message: Record, parent: str | None, written: Sequence[Record]
    ) -> str | None:
        """Return the parent of a message: `parent`, or for a tool's result the message of its call.

        Other lines may come between a call and its result, as a model can make several calls at
        once.
        """
        if not is_tool_result(message):
            return parent
        named = message.get("sourceToolAssistantUUID")
        if isinstance(named, str):
            return named
        results = tool_results(message)
        call = results[0].get("tool_use_id") if results else None
        if not isinstance(call, str):
            return parent
        return _callers_in(written).get(call) or self._callers.get(call) or parent

    def _stamped(self, message: Record, parent: str | None, agent: str | None) -> Record:
        """Return the record of a message, with its keys in the order of Claude Code's lines.

        The parent comes first and the uuid near the end; `reading.wrecks` relies on it.
        """
        record: Record = {"parentUuid": parent}
        if "logicalParentUuid" in message:
            record["logicalParentUuid"] = message["logicalParentUuid"]
        record["isSidechain"] = agent is not None
        record |= {key: message[key] for key in _FIRST_KEYS if key in message}
        if agent is not None:
            record["agentId"] = agent
        record |= {
            key: value
            for key, value in message.items()
            if key not in record and key not in _LAST_KEYS
        }
        record["uuid"] = message.get("uuid") or self._new_id()
        record["timestamp"] = message.get("timestamp") or self._now()
        record |= self._stamps()
        return record

    def _stamps(self) -> dict[str, Any]:
        stamps: dict[str, Any] = {
            "userType": self.stamp.user_type,
            "entrypoint": self.stamp.entrypoint,
            "cwd": self.stamp.cwd,
            "sessionId": self.session_id,
            "version": self.stamp.version,
            "gitBranch": self.stamp.git_branch,
        }
        if self.stamp.slug:
            stamps["slug"] = self.stamp.slug
        return stamps | {"v": FORMAT_VERSION}

    def _store(self, records: Sequence[Record], *, durable: bool) -> None:
        if not self._exists:
            if not any(record.get("type") in SPOKEN for record in records):
                self._pending += records
                return
            records = [*self._pending, *records]
            self._begin()
        self._store_at(self.layout.transcript, records, durable=durable)
        self._exists = True
        self._pending = []

    def _store_at(self, path: Path, records: Sequence[Record], *, durable: bool) -> None:
        lines = [encode_line(record) for record in records]
        self._since_repeat += sum(map(len, lines))
        if self._queue is None:
            self._append(path, lines)
            return
        self._queue.add(path, lines)
        if durable:
            self._queue.flush()

    def _begin(self) -> None:
        """Take the lock of a new session. Raises UsageError if another process has created it."""
        if self._appender is not None:
            return  # an earlier attempt to write the first message got this far
        appender = Appender(self.layout.transcript, holder=self._holder)
        if self.layout.transcript.exists():
            appender.close()
            raise UsageError(
                f"session {self.session_id!r} was created by another process in the meantime",
                hint="open it again to continue it",
            )
        self._appender = appender

    def _append(self, path: Path, lines: Sequence[bytes]) -> None:
        if self._appender is not None and path == self._appender.path:
            self._appender.append(lines)
        else:
            append_lines(path, lines)


def _as_root(record: Record, before: str | None) -> Record:
    """Return a boundary as a root that names the message before it in `logicalParentUuid`."""
    logical = record.get("logicalParentUuid") or before
    rest = {key: value for key, value in record.items() if key != "logicalParentUuid"}
    return {"parentUuid": None, "logicalParentUuid": logical} | {
        key: value for key, value in rest.items() if key != "parentUuid"
    }


def _callers_in(records: Iterable[Record]) -> dict[str, str]:
    return {str(call.get("id")): record["uuid"] for record in records for call in tool_uses(record)}


def _must_be_stored(record: Record) -> bool:
    """Return whether a message must be on the disk before the caller goes on.

    That holds for prompts and for messages with a tool's call.
    """
    if record.get("type") == USER:
        return not is_tool_result(record)
    return bool(tool_uses(record))


def _supersedes(new: Record, old: Record) -> bool:
    """Return whether `new` replaces `old`, when both are set before the first message."""
    kinds = {
        "custom-title",
        "ai-title",
        "tag",
        "mode",
        "agent-name",
        "agent-color",
        "agent-setting",
        "worktree-state",
        "last-prompt",
    }
    return new.get("type") == old.get("type") and new.get("type") in kinds
