"""What a server of models is told to answer, in one form for all wires."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Text(NamedTuple):
    """Said in these pieces."""

    pieces: Sequence[str]


class Thought(NamedTuple):
    """Thought, with what the provider signs it by. Without a text only that is sent."""

    text: str
    signature: str = "c2lnbmVk"
    is_redacted: bool = False


class ToolUse(NamedTuple):
    """A call; an input that is a text is sent as it is."""

    id: str
    name: str
    input: Mapping[str, Any] | str
    signature: str = ""  # of Gemini

    @property
    def raw(self) -> str:
        import json

        return self.input if isinstance(self.input, str) else json.dumps(dict(self.input))


class Used(NamedTuple):
    """Tokens that do not overlap; each wire counts in its own way. `thought` is beside `said`."""

    fresh: int = 100
    read: int = 0
    written: int = 0
    said: int = 20
    thought: int = 0


class Reply(NamedTuple):
    """A whole answer, and what happens to it on the way.

    After `at` events: `cut` ends the connection, `ends` ends the stream as if it were whole,
    `holds` says nothing more until the client is gone, `garbage` sends such data, and `error` such
    an event.
    """

    parts: Sequence[Text | Thought | ToolUse]
    used: Used = Used()
    reason: str = ""  # in the wire's own word
    at: int = 3
    cut: bool = False
    ends: bool = False
    holds: bool = False
    garbage: bytes = b""
    error: Mapping[str, Any] | None = None
    pause_s: float = 0  # before each event; with a ping, where the wire has one


class Refusal(NamedTuple):
    """A status in the place of an answer."""

    status: int
    body: Mapping[str, Any] | Sequence[Any] | str = ""
    headers: Mapping[str, str] = {}


class Silence(NamedTuple):
    """The connection is accepted, and nothing is ever said."""


Answer = Reply | Refusal | Silence


def hello(*pieces: str, **how: Any) -> Reply:
    """Return an answer of nothing but text."""
    return Reply([Text(pieces or ("Hello", " there"))], **how)
