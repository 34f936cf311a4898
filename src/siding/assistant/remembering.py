"""The conversation of the built-in agent, in a session of the project."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from siding.agents.transcripts.context import Spoken
from siding.agents.transcripts.session import AnswerPart, Session
from siding.agents.transcripts.writing.compaction import Trigger
from siding.assistant.loop.folding import same_at_first
from siding.assistant.loop.messages import Block, Message, Usage
from siding.assistant.loop.model import Ended, Started
from siding.assistant.tools.port import Call, Result

T = TypeVar("T")


class SessionConversation:
    """Stores what is said in a session, one line after the other.

    A flush may take long on a busy disk, so each is waited for in a thread.
    """

    def __init__(self, session: Session, one: asyncio.Lock | None = None) -> None:
        self._session = session
        self._one = one or asyncio.Lock()
        self._turn = self._mode = ""
        self._shown: list[Spoken] = []
        self._messages: list[Message] = []  # of what is shown

    def beside(self, session: Session) -> "SessionConversation":
        """Return the conversation of another session that has the same writer."""
        return SessionConversation(session, self._one)

    def turn_begins(self, turn: str, mode: str) -> None:
        """Have the next prompt be the beginning of the turn with this id, in this mode."""
        self._turn, self._mode = turn, mode

    def context(self) -> Sequence[Message]:
        """Return what the model sees."""
        spoken = self._session.context()
        # What is settled is not made again: a request would take longer with each turn.
        same = same_at_first(self._shown, spoken)
        self._messages[same:] = map(message_of, spoken[same:])
        self._shown = spoken
        return [*self._messages]

    async def user(self, content: str | Sequence[Block], *, hidden: bool = False) -> str:
        """Store a prompt; return its id."""
        turn, mode = ("", "") if hidden else (self._turn, self._mode)
        line = await self._stored(
            lambda: self._session.user(content, hidden=hidden, turn=turn, mode=mode)
        )
        return str(line["uuid"])

    async def said(
        self, answer: Started, block: Block, usage: Usage, ended: Ended | None = None
    ) -> str:
        """Store a block of an answer; return the id of its line."""
        part = AnswerPart(
            answer=answer.id,
            model=answer.model,
            block=block,
            usage={
                "input_tokens": usage.input,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
                "output_tokens": usage.output,
            },
            stop_reason=None if ended is None else ended.reason.value,
            kept={} if ended is None else ended.kept,
        )
        line = await self._stored(lambda: self._session.said(part))
        return str(line["uuid"])

    async def result(self, call: Call, result: Result) -> str:
        """Store the result of a call; return the id of its line."""
        content = result.content
        blocks = content if isinstance(content, str) else [dict(each) for each in content]
        line = await self._stored(
            lambda: self._session.result(
                call.id, blocks, is_error=result.is_error, details=dict(result.details)
            )
        )
        return str(line["uuid"])

    async def withdraw(self, answer: str) -> Sequence[str]:
        """Withdraw an answer; return the ids of its lines and of the results of its calls."""
        return await self._stored(lambda: self._session.withdraw(answer))

    async def compact(
        self, summary: str, *, trigger: str, tokens: int, keep_from: str | None
    ) -> str:
        """Go on with a summary; return the id of the boundary."""
        why = Trigger(trigger)
        line = await self._stored(
            lambda: self._session.compact(summary, trigger=why, tokens=tokens, keep_from=keep_from)
        )
        return str(line["uuid"])

    async def _stored(self, write: Callable[[], T]) -> T:
        async with self._one:
            return await asyncio.to_thread(write)


def message_of(spoken: Spoken) -> Message:
    """Return what was said as the model is sent it."""
    return Message(
        role="assistant" if spoken.role == "assistant" else "user",
        content=_blocks(spoken.content),
        kept=spoken.kept,
    )


def _blocks(content: object) -> list[Block]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [dict(each) for each in content] if isinstance(content, list) else []
