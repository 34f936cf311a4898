"""The port of models: one request, streamed. What fails is a `ModelError` of a known kind.

Blocks of messages are dictionaries as Anthropic's API has them (`text`, `thinking`, `tool_use`,
`tool_result`, `image`, `document`), because transcripts hold them. Adapters translate them for
other models.

Why a request failed decides whether it is made again at all; how often it failed, for how long it
waits.
"""

from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from enum import StrEnum
from itertools import islice
from operator import is_
from typing import Any, Generic, Literal, Protocol, TypeVar

from siding.assistant.tools.port import ToolSpec
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple

Block = dict[str, Any]
S = TypeVar("S")
_KEPT = 8  # states: the end of a conversation is made anew with each message, and a bit of it goes
MOST_TRIES = 10
FALLBACK_AFTER = 3  # overloads in a row, after which another model is asked
_FIRST_S, _LONGEST_S = 0.5, 32.0
_LONGEST_ASKED_S = 600.0  # a server that wants more is not waited for


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


# -- One request and its answer --------------------------------------------------------------------


class Effort(StrEnum):
    """How much a model is to think. What that means is its provider's."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Thinking(StrEnum):
    """Whether a model thinks before it answers."""

    AUTO = "auto"  # as the model is used to
    ON = "on"
    OFF = "off"


class Cache(StrEnum):
    """How long the provider keeps the prompt for the next request."""

    OFF = "off"
    SHORT = "5m"
    LONG = "1h"


class Request(NamedTuple):
    """One request. None and () leave it to the provider.

    `model` is ``provider:name``. The texts of `system` are sent in their order, the most lasting
    first: a cache reuses what has not changed from the beginning on. The first `stable` of them are
    the same in every conversation of the project.
    """

    model: str
    system: Sequence[str]
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    stable: int = 1
    max_output: int | None = None
    effort: Effort | int | None = None
    thinking: Thinking = Thinking.AUTO
    cache: Cache = Cache.SHORT
    is_streamed: bool = True


class StopReason(StrEnum):
    """Why an answer ended."""

    END = "end_turn"
    TOOLS = "tool_use"
    MAX_OUTPUT = "max_tokens"
    STOP_TEXT = "stop_sequence"
    REFUSED = "refusal"
    PAUSED = "pause_turn"  # the provider wants the same conversation again


class Started(NamedTuple):
    """The answer begins. `id` is the provider's, or made up: unique in any case."""

    id: str
    model: str
    usage: Usage = Usage()


class TextDelta(NamedTuple):
    """The next characters of the text block at the place `at`."""

    at: int
    text: str


class ThinkingDelta(NamedTuple):
    """The next characters of the thought at the place `at`."""

    at: int
    text: str


class InputDelta(NamedTuple):
    """The next characters of the input, as JSON, of the call at the place `at`."""

    at: int
    id: str
    name: str
    json: str


class BlockEnded(NamedTuple):
    """A block is whole. Blocks end in their order.

    A call whose input is no JSON object has ``{"_invalid": TEXT}`` as its input: the loop tells the
    model so.
    """

    at: int
    block: Block


class Ended(NamedTuple):
    """The answer is whole. `kept`: see `Message`."""

    reason: StopReason
    usage: Usage
    kept: Mapping[str, Any] = {}


ModelEvent = Started | TextDelta | ThinkingDelta | InputDelta | BlockEnded | Ended


class Trouble(StrEnum):
    """Why a request failed."""

    OVERLOADED = "overloaded"  # 529, 503: another model may answer
    RATE = "rate_limit"  # 429
    SERVER = "server"  # 5xx, 408, 409
    CONNECTION = "connection"  # none, cut, stuck, or not what the protocol says
    TOO_LONG = "prompt_too_long"
    LOGIN = "login"  # 401, 403, or no key at all
    CREDIT = "credit"  # no money left
    REQUEST = "request"  # what was asked is refused, and would be again: 400, 404, 413, 422
    SETUP = "setup"  # a library or a setting is missing


class ModelError(SidingError):
    """A request failed. `after_s` is how long the server wants to be left alone.

    `has_begun`: some of the answer had come already.
    """

    code = "model_error"

    def __init__(
        self,
        trouble: Trouble,
        message: str,
        *,
        status: int | None = None,
        after_s: float | None = None,
        has_begun: bool = False,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.trouble = trouble
        self.status = status
        self.after_s = after_s
        self.has_begun = has_begun


class Limits(NamedTuple):
    """What a model takes and gives, in tokens."""

    window: int = 200_000
    output: int = 32_000  # asked for at first
    most_output: int = 64_000  # and when an answer did not fit


class Model(Protocol):
    """Answers requests."""

    def answer(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer: `Started`, then deltas and `BlockEnded`s, then `Ended`.

        Raises ModelError. It does not try again: that is the loop's. Cancelled, or closed with
        ``aclose``, it hangs up.
        """
        ...

    def limits(self, model: str) -> Limits:
        """Return what the model takes and gives; a guess for one that is not known."""
        ...

    def dollars(self, model: str, usage: Usage) -> float | None:
        """Return what a request cost; None if the price is not known."""
        ...


_PASSING = frozenset({Trouble.OVERLOADED, Trouble.RATE, Trouble.SERVER, Trouble.CONNECTION})


# -- What becomes of a request that failed ---------------------------------------------------------


class Again(NamedTuple):
    """The request is made again after `after_s` seconds.

    Not `is_streamed`: a stream broke, so the next answer is asked for in one piece.
    """

    after_s: float
    is_streamed: bool


class OtherModel(NamedTuple):
    """The request is made of another model, at once."""

    model: str


class GiveUp(NamedTuple):
    """The request is not made again."""


class Failures(NamedTuple):
    """What has failed since an answer was whole. `overloads`: the newest ones in a row."""

    times: int = 0
    overloads: int = 0
    broken: int = 0  # streams that broke off

    def with_error(self, error: ModelError) -> "Failures":
        """Return the failures with one more."""
        return Failures(
            times=self.times + 1,
            overloads=self.overloads + 1 if error.trouble is Trouble.OVERLOADED else 0,
            broken=self.broken + (error.trouble is Trouble.CONNECTION and error.has_begun),
        )


def next_step(
    error: ModelError,
    failures: Failures,
    *,
    fallback: str | None,
    most: int = MOST_TRIES,
    spread: float = 0.0,
) -> Again | OtherModel | GiveUp:
    """Return what to do about an error; `failures` has it already.

    `fallback` is a model that was not asked yet. `spread`, from 0 to 1, keeps many clients from
    coming back at the same moment.
    """
    if error.trouble not in _PASSING:
        return GiveUp()
    if fallback is not None and failures.overloads >= FALLBACK_AFTER:
        return OtherModel(fallback)
    asked_s = error.after_s or 0.0
    if failures.times > most or asked_s > _LONGEST_ASKED_S:
        return GiveUp() if fallback is None else OtherModel(fallback)
    own_s = min(_FIRST_S * 2.0 ** (failures.times - 1), _LONGEST_S)
    return Again(
        after_s=max(asked_s, own_s * (1 + 0.25 * spread)), is_streamed=failures.broken == 0
    )
