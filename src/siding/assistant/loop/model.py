"""The port of models: one request, streamed. What fails is a `ModelError` of a known kind."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol

from siding.assistant.loop.messages import Block, Message, Usage
from siding.assistant.tools.port import ToolSpec
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple


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
