"""What a turn is begun with: ports and limits."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from siding.assistant.loop.compacting import estimated
from siding.assistant.loop.conversation import Conversation
from siding.assistant.loop.guard import Guard
from siding.assistant.loop.messages import Block, Message
from siding.assistant.loop.model import Cache, Effort, Model, Thinking
from siding.assistant.tools.port import Tool
from siding.ground.namedtuples import NamedTuple

Content = str | Sequence[Block]


def nothing_queued() -> Sequence[Content]:
    """Return that the person has said nothing more."""
    return ()


async def nothing_to_tell() -> Sequence[str]:
    """Return that the model is to be told nothing beside what is said."""
    return ()


async def no_objection(_text: str) -> str:
    """Return that no hook objects to the end of the turn."""
    return ""


def measured(messages: Sequence[Message]) -> int:
    """Return about how many tokens the messages have."""
    return sum(estimated(each.content) for each in messages)


class Setup(NamedTuple):
    """Everything that the loop is given. None is no limit.

    `queued` returns what the person has said since it was last called. `reminders` returns what the
    model is to be told before the next request, hidden from the person. `stop_hooks` is asked, with
    the last text, whether the turn may end: a text that it returns is for the model, which goes on.
    `measure` is what tells about how many tokens some messages have (`compacting.measuring`).
    `monotonic` and `sleep` are the clock; `spread` returns a number from 0 to 1.
    """

    conversation: Conversation
    model: Model
    guard: Guard
    tools: Mapping[str, Tool]
    name: str  # of the model: ``provider:name``
    system: Sequence[str]
    monotonic: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]]
    spread: Callable[[], float]
    fallback: str | None = None
    stable: int = 1
    effort: Effort | int | None = None
    thinking: Thinking = Thinking.AUTO
    cache: Cache = Cache.SHORT
    most_requests: int | None = None
    most_dollars: float | None = None
    most_tokens: int | None = None
    most_tries: int = 10
    compacts: bool = True
    schema: Mapping[str, Any] | None = None  # of an object that the turn has to end with
    queued: Callable[[], Sequence[Content]] = nothing_queued
    reminders: Callable[[], Awaitable[Sequence[str]]] = nothing_to_tell
    stop_hooks: Callable[[str], Awaitable[str]] = no_objection
    measure: Callable[[Sequence[Message]], int] = measured
