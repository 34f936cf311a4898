"""The messages of a conversation as the model sees them.

Blocks are dictionaries as Anthropic's API has them (`text`, `thinking`, `tool_use`, `tool_result`,
`image`, `document`), because transcripts hold them. Adapters translate them for other models.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import is_
from typing import Any, Generic, Literal, TypeVar

from siding.ground.namedtuples import NamedTuple

Block = dict[str, Any]


class Usage(NamedTuple):
    """Tokens of one request, in one meaning for all models.

    The whole prompt is `input + cache_read + cache_write`: the parts do not overlap. `output` has
    the tokens of thoughts, too.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def prompt(self) -> int:
        """All tokens that were sent."""
        return self.input + self.cache_read + self.cache_write

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum."""
        return Usage(*(mine + its for mine, its in zip(self, other, strict=True)))


class Message(NamedTuple):
    """One message. Roles alternate; every `tool_use` is answered in the next message.

    `kept` is what the provider `kept["provider"]` wants back as it gave it (signatures, encrypted
    thoughts). Only its adapter reads it; another model gets the blocks alone.
    """

    role: Literal["user", "assistant"]
    content: Sequence[Block]
    kept: Mapping[str, Any] = {}


# -- What is worked out of all messages of a conversation, without going over all each time --------


S = TypeVar("S")

_KEPT = 8  # states: the end of a conversation is made anew with each message, and a bit of it goes


class Folding(Generic[S]):
    """A fold over messages. The same objects as before are not folded again.

    `first` is the value of no messages; `step` returns the value with one more.
    """

    def __init__(self, first: S, step: Callable[[S, Message], S]) -> None:
        self._step = step
        self._messages: Sequence[Message] = ()
        self._none = (0, first)
        self._states: deque[tuple[int, S]] = deque(maxlen=_KEPT)  # after so many messages

    def of(self, messages: Sequence[Message]) -> S:
        """Return the value of some messages."""
        same = same_at_first(self._messages, messages)
        while self._states and self._states[-1][0] > same:
            self._states.pop()
        count, state = self._states[-1] if self._states else self._none
        for message in islice(messages, count, None):
            count, state = count + 1, self._step(state, message)
            self._states.append((count, state))
        self._messages = list(messages)
        return state


def same_at_first(before: Sequence[object], now: Sequence[object]) -> int:
    """Return how many objects at the beginning of both are the same."""
    both = [*map(is_, before, now)]
    return both.index(False) if False in both else len(both)
