"""What is worked out of all messages of a conversation, without going over all each time."""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from operator import is_
from typing import Generic, TypeVar

from siding.assistant.loop.messages import Message

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
