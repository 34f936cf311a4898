"""The port of what is remembered. Every method returns when what it was given is stored."""

from collections.abc import Sequence
from typing import Protocol

from siding.assistant.loop.messages import Block, Message, Usage
from siding.assistant.loop.model import Ended, Started
from siding.assistant.tools.port import Call, Result


class Conversation(Protocol):
    """A conversation that the loop goes on with. Ids are those of stored messages."""

    def context(self) -> Sequence[Message]:
        """Return what the model sees: every call has its result, roles alternate."""
        ...

    async def user(self, content: str | Sequence[Block], *, hidden: bool = False) -> str:
        """Store a prompt; `hidden`, if no person wrote it. Return its id."""
        ...

    async def said(
        self, answer: Started, block: Block, usage: Usage, ended: Ended | None = None
    ) -> str:
        """Store a whole block of an answer; the last one comes with how the answer ended.

        A call is on the disk when this returns.
        """
        ...

    async def result(self, call: Call, result: Result) -> str:
        """Store the result of a call."""
        ...

    async def withdraw(self, answer: str) -> Sequence[str]:
        """Take the blocks of an answer back; return the ids of their messages."""
        ...

    async def compact(
        self, summary: str, *, trigger: str, tokens: int, keep_from: str | None
    ) -> str:
        """Go on with a summary in the place of what was said before the message `keep_from`.

        None keeps nothing. Return the id of the boundary. Raises UsageError if nothing is left to
        sum up.
        """
        ...
