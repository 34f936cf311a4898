"""The lines of a session that is not kept: they get their ids and times, and go nowhere."""

from collections.abc import Callable, Iterable
from typing import Protocol

from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.metadata import Metadata


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
