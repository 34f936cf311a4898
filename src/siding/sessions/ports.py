"""What sessions need of the outside, beyond files."""

from collections.abc import Callable, Sequence
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


class ScriptedSummariser:
    """The twin in memory: says what it was told to say, and remembers what it was asked."""

    def __init__(self, say: str | Callable[[Sequence[Record]], str]) -> None:
        self._say = say
        self.asked: list[tuple[list[Record], str]] = []

    def summarise(self, messages: Sequence[Record], instructions: str) -> str:
        """Return the scripted summary."""
        self.asked.append((list(messages), instructions))
        return self._say if isinstance(self._say, str) else self._say(messages)
