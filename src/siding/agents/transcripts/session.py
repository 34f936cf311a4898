"""A conversation that is under way: what the model sees, in memory, and its transcript, in step.

`Session.open` takes the one writer of a session and reads its live end once. From then on each
method appends to the file and to what is in memory, so that the context of the next request needs
no reading. Prompts and calls of tools are on the disk when a method returns; other lines at the
latest with the next one of these, with `flush` or with `close`.

What a provider wants back as it gave it (signatures, encrypted thoughts) lies in the field
`sidingKept` of the last line of an answer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, Self

from siding.agents.transcripts.branches import branch_session, rewind_session
from siding.agents.transcripts.compaction import Keep, Making, Trigger, full, partial
from siding.agents.transcripts.kinds import ASSISTANT, USER, Record
from siding.agents.transcripts.layout import write_about
from siding.agents.transcripts.messages import content_of, message_id, tool_results, tool_uses
from siding.agents.transcripts.reading.metadata import Metadata
from siding.agents.transcripts.reading.recovery import mended
from siding.agents.transcripts.reading.views import Context, Spoken, active
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp, Writer
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import Holder


class Lines(Protocol):
    """Where the lines of a session go: `Writer`, or nowhere (`UnstoredLines`)."""

    metadata: Metadata

    def append(self, messages: Iterable[Record], *, durable: bool = False) -> list[Record]:
        """Take messages after the last one; return them as they are written."""
        ...

    def set(self, entry: Record) -> None:
        """Take a metadata entry, given without its session id."""
        ...

    def withdraw(self, uuid: str) -> None:
        """Withdraw a message."""
        ...

    def flush(self) -> None:
        """Return when all lines are stored."""
        ...

    def close(self) -> None:
        """Store the rest and give the session free."""
        ...


class Source(NamedTuple):
    """Where ids (UUIDs) and times (ISO 8601) of new lines come from."""

    new_id: Callable[[], str]
    now: Callable[[], str]


class AnswerPart(NamedTuple):
    """A whole block of an answer.

    `usage` has Anthropic's names. `stop_reason` and `kept` are known for the last block only.
    """

    answer: str  # the provider's id of the answer
    model: str
    block: Record
    usage: Mapping[str, int]
    stop_reason: str | None = None
    kept: Mapping[str, Any] = {}


class Session:
    """One conversation. It is used by one thread at a time; close it, or use a ``with`` block."""

    def __init__(
        self, session_id: str, lines: Lines, source: Source, records: Iterable[Record] = ()
    ) -> None:
        self.id = session_id
        self._lines = lines
        self._source = source
        self._context = Context(records, lines.metadata.replacements_of(session_id))
        self._store: SessionStore | None = None

    @classmethod
    def open(
        cls,
        store: SessionStore,
        session_id: str,
        *,
        stamp: Stamp,
        source: Source,
        holder: Holder | None = None,
    ) -> Self:
        """Go on with a session, or begin one. Raises LockBusy, NewerVersion, OSError."""
        writer = store.writer(
            session_id,
            stamp=stamp,
            now=source.now,
            new_id=source.new_id,
            holder=holder,
            background=True,
        )
        try:
            made = cls(
                session_id, writer, source, live_records(store, session_id) if writer.exists else ()
            )
        except BaseException:
            writer.close()
            raise
        made._store = store
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def metadata(self) -> Metadata:
        """Titles, modes and the like."""
        return self._lines.metadata

    @property
    def records(self) -> Sequence[Record]:
        """The messages since the newest compaction, as they are in the file."""
        return self._context.records

    def context(self) -> list[Spoken]:
        """Return what the model sees: roles alternate, every call has its result."""
        return self._context.spoken()

    def user(
        self,
        content: str | Sequence[Record],
        *,
        hidden: bool = False,
        turn: str = "",
        mode: str = "",
    ) -> Record:
        """Write a prompt; `hidden` if no person wrote it, `turn` if it begins one.

        `mode` is that of the permissions in force.
        """
        blocks = content if isinstance(content, str) else list(content)
        line: Record = {"type": USER, "message": {"role": USER, "content": blocks}}
        if turn:
            line["promptId"] = turn
        if mode:
            line["permissionMode"] = mode
        if hidden:
            line["isMeta"] = True
        return self._add(line, durable=True)

    def said(self, part: AnswerPart) -> Record:
        """Write a block of an answer. A call of a tool is on the disk when this returns."""
        message = {
            "id": part.answer,
            "type": "message",
            "role": ASSISTANT,
            "model": part.model,
            "content": [dict(part.block)],
            "stop_reason": part.stop_reason,
            "stop_sequence": None,
            "usage": dict(part.usage),
        }
        line: Record = {"type": ASSISTANT, "message": message}
        if part.kept:
            line["sidingKept"] = dict(part.kept)
        return self._add(line)

    def result(
        self,
        call: str,
        content: str | Sequence[Record],
        *,
        is_error: bool = False,
        details: object = None,
    ) -> Record:
        """Write the result of a call. `details`: for programs (Claude Code's `toolUseResult`)."""
        block: Record = {"type": "tool_result", "tool_use_id": call}
        block["content"] = content if isinstance(content, str) else list(content)
        if is_error:
            block["is_error"] = True
        line: Record = {"type": USER, "message": {"role": USER, "content": [block]}}
        if details:
            line["toolUseResult"] = details
        return self._add(line)

    def failed(self, text: str) -> Record:
        """Write that the model could not be asked; a person sees it, the model does not."""
        message = {
            "id": self._source.new_id(),
            "type": "message",
            "role": ASSISTANT,
            "model": "<synthetic>",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return self._add({"type": ASSISTANT, "message": message, "isApiErrorMessage": True})

    def withdraw(self, answer: str) -> list[str]:
        """Withdraw the lines of an answer and the results of its calls; return their ids."""
        own = [each for each in self.records if message_id(each) == answer]
        calls = {call.get("id") for each in own for call in tool_uses(each)}
        results = [
            each
            for each in self.records
            if any(block.get("tool_use_id") in calls for block in tool_results(each))
        ]
        ids = [str(each["uuid"]) for each in (*results, *reversed(own))]
        for uuid in ids:
            self._lines.withdraw(uuid)
        self._context.remove(ids)
        return ids

    def replace(self, call: str, replacement: str) -> None:
        """Have the model see `replacement` in the place of a result from now on."""
        entry = {"kind": "tool-result", "toolUseId": call, "replacement": replacement}
        self._lines.set({"type": "content-replacement", "replacements": [entry]})
        self._context.replace([entry])

    def set(self, entry: Record) -> None:
        """Write a metadata entry (title, mode, cost, …), given without its session id."""
        self._lines.set(entry)

    def compact(
        self, summary: str, *, trigger: Trigger, tokens: int, keep_from: str | None = None
    ) -> Record:
        """Go on with a summary, and with the messages from `keep_from` on; return the boundary.

        Raises UsageError if nothing is left to sum up.
        """
        making = Making(
            new_id=self._source.new_id,
            now=self._source.now(),
            trigger=trigger,
            pre_tokens=tokens,
        )
        chain = list(self.records)
        if keep_from is None:
            lines = full(chain, summary, making)
        else:
            lines = partial(chain, keep_from, summary, making, keep=Keep.TAIL)
        written = self._lines.append(lines, durable=True)
        self._context.compacted(written)
        return written[0]

    def open_calls(self) -> list[Record]:
        """Return the calls, as blocks, that have no result: whoever made them was killed."""
        answered = {
            block.get("tool_use_id") for each in self.records for block in tool_results(each)
        }
        calls = [call for each in self.records for call in tool_uses(each)]
        return [call for call in calls if call.get("id") not in answered]

    def rewind(self, target: str | None) -> None:
        """Go on after the message `target` (None: from the start), which may lie on a dead branch.

        What comes after it stays in the file. Raises UsageError for a session without a file.
        """
        store = self._require_store()
        writer = self._lines
        assert isinstance(writer, Writer)
        writer.flush()
        with store.live(self.id) as transcript:
            ids = self._source
            rewind_session(writer, transcript, target, now=ids.now(), uuid=ids.new_id())
        writer.flush()
        self._context = Context(
            live_records(store, self.id), self.metadata.replacements_of(self.id)
        )

    def branch(self, target: str) -> str:
        """Copy the conversation into the new session `target`; return its title."""
        store = self._require_store()
        self.flush()
        return branch_session(store, self.id, target)

    def subagent(self, agent_id: str, *, kind: str, description: str) -> "Session":
        """Begin the conversation of a subagent, which is stored beside this one if this one is."""
        lines: Lines = UnstoredLines(self._source)
        if isinstance(self._lines, Writer):
            lines = SubagentLines(self._lines, agent_id)
            write_about(self._lines.layout.agent_meta(agent_id), kind, description)
        return Session(self.id, lines, self._source)

    def flush(self) -> None:
        """Return when all lines are stored; raise what keeps them from it."""
        self._lines.flush()

    def close(self) -> None:
        """Store the rest and give the session free."""
        self._lines.close()

    def _require_store(self) -> SessionStore:
        assert self._store is not None, "a session without a file has no branches"
        return self._store

    def _add(self, line: Record, *, durable: bool = False) -> Record:
        written = self._lines.append([line], durable=durable)[0]
        self._context.add(written)
        return written


def live_records(store: SessionStore, session_id: str) -> list[Record]:
    """Return the messages that the model may still see, without what a model would refuse."""
    with store.live(session_id) as transcript:
        chain = active(list(transcript.records(transcript.chain())))
    open_ids = {call.get("id") for each in chain for call in tool_uses(each)}
    return mended([each for each in chain if content_of(each) != ""], keep=frozenset(open_ids))


def aside(store: SessionStore, session_id: str, *, source: Source) -> Session:
    """Go on with what a session has, and store nothing of it. Raises NotFound."""
    return Session(session_id, UnstoredLines(source), source, live_records(store, session_id))


# -- What takes the lines of a conversation in place of a writer of its own ------------------------


class UnstoredLines:
    """Takes lines as `Writer` does and stores none."""

    def __init__(self, source: Source) -> None:
        self.metadata = Metadata()
        self._source = source

    def append(self, messages: Iterable[Record], *, durable: bool = False) -> list[Record]:
        """Return the messages as they would be written."""
        del durable
        return [
            {**each, "uuid": self._source.new_id(), "timestamp": self._source.now()}
            for each in messages
        ]

    def set(self, entry: Record) -> None:
        """Keep the entry in memory."""
        self.metadata.add(entry)

    def withdraw(self, uuid: str) -> None:
        """Do nothing: the message is nowhere."""

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class SubagentLines:
    """Takes lines as `Writer` does, for one subagent. They are as durable as those of the session.

    An answer that is withdrawn stays in the file: nobody goes on with a subagent, and who reads it
    sees what was said.
    """

    def __init__(self, writer: Writer, agent_id: str) -> None:
        self.metadata = Metadata()
        self._writer = writer
        self._id = agent_id
        self._last: str | None = None

    def append(self, messages: Iterable[Record], *, durable: bool = False) -> list[Record]:
        """Write messages after the last one; return them as they are written."""
        del durable
        written = self._writer.append_to_agent(self._id, messages, parent=self._last)
        if written:
            self._last = str(written[-1]["uuid"])
        return written

    def set(self, entry: Record) -> None:
        """Keep the entry in memory: there is no such thing of a subagent."""
        self.metadata.add(entry)

    def withdraw(self, uuid: str) -> None:
        """Do nothing: see the class."""

    def flush(self) -> None:
        """Return when all lines are stored."""
        self._writer.flush()

    def close(self) -> None:
        """Do nothing: the session closes the writer."""
