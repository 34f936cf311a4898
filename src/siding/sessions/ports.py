"""The interfaces that sessions need from outside, besides files."""

from collections.abc import Sequence
from typing import Protocol

from siding.sessions.kinds import Record


class Summariser(Protocol):
    """Writes summaries of conversations: a model."""

    def summarise(self, messages: Sequence[Record], instructions: str) -> str:
        """Return a summary of messages in wire form.

        It may contain ``<analysis>`` (thrown away) and ``<summary>`` parts. It may raise anything:
        the conversation is then unchanged.
        """
        ...
