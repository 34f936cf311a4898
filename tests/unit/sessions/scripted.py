"""A summariser in memory."""

from collections.abc import Callable, Sequence

from siding.sessions.kinds import Record


class ScriptedSummariser:
    """Says what it was told to say, and remembers what it was asked."""

    def __init__(self, say: str | Callable[[Sequence[Record]], str]) -> None:
        self._say = say
        self.asked: list[tuple[list[Record], str]] = []

    def summarise(self, messages: Sequence[Record], instructions: str) -> str:
        """Return the scripted summary."""
        self.asked.append((list(messages), instructions))
        return self._say if isinstance(self._say, str) else self._say(messages)
