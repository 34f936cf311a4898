"""What sessions need of the outside, beyond files."""

from collections.abc import Sequence
from typing import Protocol

from siding.sessions.kinds import Record


class Summariser(Protocol):
    """Something that can say shortly what a conversation was about: a model."""

    def summarise(self, messages: Sequence[Record], instructions: str) -> str:
        """Return a summary of messages in wire form.

        It may contain ``<analysis>`` (thrown away) and ``<summary>`` parts. Raises what it likes:
        the conversation is then as it was.
        """
        ...
