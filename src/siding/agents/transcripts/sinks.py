"""What takes the lines of a conversation in place of a `Writer` of its own."""

from collections.abc import Callable, Iterable
from typing import Protocol

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.metadata import Metadata
from siding.agents.transcripts.writing.writer import Writer


class Stamps(Protocol):
    """Where ids and times of new lines come from (`session.Source`)."""

    @property
    def new_id(self) -> Callable[[], str]: ...

    @property
    def now(self) -> Callable[[], str]: ...


class UnstoredLines:
    """Takes lines as `Writer` does and stores none."""

    def __init__(self, source: Stamps) -> None:
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
