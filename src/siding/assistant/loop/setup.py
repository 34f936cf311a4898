"""What a turn is begun with: ports and limits."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from siding.assistant.loop.compaction import estimated
from siding.assistant.loop.model import (
    Block,
    Cache,
    Effort,
    Ended,
    Message,
    Model,
    Started,
    Thinking,
    Usage,
)
from siding.assistant.tools.port import Call, Result, Tool
from siding.ground.namedtuples import NamedTuple

# -- The port through which the loop asks whether a tool may be used -------------------------------


class Allowed(NamedTuple):
    """The call may run, with this input: whoever was asked may have changed it."""

    given: Mapping[str, Any]


class Denied(NamedTuple):
    """The call does not run; the model reads `reason`. With `ends_turn` it is not asked again."""

    reason: str
    ends_turn: bool = False


class HookRuling(NamedTuple):
    """What a hook says of a call. Without anything it leaves the decision to others.

    `denies`, for the `reason`, and then perhaps `ends_turn`; `allows` it as a person would, who was
    asked; `asks` that somebody is asked; `given` is another input.
    """

    denies: bool = False
    reason: str = ""
    ends_turn: bool = False
    allows: bool = False
    asks: bool = False
    given: Mapping[str, Any] | None = None


class CallHooks(Protocol):
    """Is told of each call before it is decided on, and of its end."""

    async def before(self, call: Call) -> HookRuling:
        """Return what there is to say of a call."""
        ...

    async def after(self, call: Call, result: Result) -> None:
        """Take note of the end of a call."""
        ...


class Guard(Protocol):
    """Decides on calls. It may wait for a person, as long as that takes."""

    async def rule(self, call: Call, tool: Tool) -> Allowed | Denied:
        """Decide on a call whose input fits the tool's schema."""
        ...

    async def ended(self, call: Call, tool: Tool, result: Result) -> None:
        """Take note that a call which was allowed has ended."""
        ...


# -- The port of what is remembered. Every method returns when what it was given is stored ---------


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


# -- What a turn is begun with: ports and limits ---------------------------------------------------


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
    `measure` is what tells about how many tokens some messages have (`compaction.measuring`).
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
