"""What the loop tells: a closed union of values. What must last was stored before it is told."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from siding.assistant.loop.model import (
    Block,
    InputDelta,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Trouble,
    Usage,
)
from siding.assistant.tools.port import Call, Progress, Result, Use
from siding.ground.namedtuples import NamedTuple


class TurnStarted(NamedTuple):
    """A prompt was stored, and the loop begins. `prompt` is the id of its message."""

    prompt: str


class AnswerStarted(NamedTuple):
    """The model begins an answer."""

    answer: str
    model: str
    usage: Usage


class Said(NamedTuple):
    """A block of an answer is whole and stored, as the message `id`."""

    id: str
    answer: str
    model: str
    block: Block
    usage: Usage


class Answered(NamedTuple):
    """An answer is whole."""

    answer: str
    model: str
    reason: StopReason
    usage: Usage
    dollars: float | None


class Withdrawn(NamedTuple):
    """What was told of this answer does not count: it broke off, and is asked for again."""

    answer: str
    messages: Sequence[str]


class Retrying(NamedTuple):
    """The request failed and is made again after `after_s` seconds."""

    attempt: int
    most: int
    after_s: float
    trouble: Trouble
    status: int | None
    message: str


class FellBack(NamedTuple):
    """Another model answers from here on to the end of the turn."""

    model: str
    instead_of: str
    why: str


class ToolStarted(NamedTuple):
    """A call was allowed, is on the disk, and runs."""

    call: Call
    use: Use


class ToolEnded(NamedTuple):
    """A call has a result, stored as the message `id`. `wall_s`: how long it ran."""

    id: str
    call: Call
    result: Result
    wall_s: float


class ToolDenied(NamedTuple):
    """A call was not allowed; its result, which `ToolEnded` tells as well, says why."""

    call: Call
    reason: str


class Compacting(NamedTuple):
    """The conversation is about to be summed up."""

    trigger: str  # auto or manual
    tokens: int


class Compacted(NamedTuple):
    """The model goes on with a summary. `id` is the boundary's. `tokens`: before."""

    id: str
    trigger: str
    tokens: int
    summary: str


class CompactingFailed(NamedTuple):
    """The conversation stays as it is."""

    why: str


class Continued(NamedTuple):
    """The loop asks the model again for another reason than the result of a tool."""

    transition: "Transition"


class Transition(StrEnum):
    """Why the loop asked the model again."""

    NEXT = "next_turn"  # tools have results
    COMPACTED = "reactive_compact_retry"
    MORE_OUTPUT = "max_output_tokens_escalate"
    GO_ON = "max_output_tokens_recovery"
    STOP_HOOK = "stop_hook_blocking"
    PAUSED = "pause_turn"
    SCHEMA = "structured_output_retry"


class Ending(StrEnum):
    """How a turn ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    MAX_TOKENS = "max_tokens"
    MODEL_ERROR = "model_error"
    TOO_LONG = "prompt_too_long"
    STOPPED = "stopped"  # by a hook, or by somebody who refused a tool and more
    NO_OBJECT = "no_object"  # the object that was asked for never fitted its schema


class ModelUse(NamedTuple):
    """What one model has used."""

    usage: Usage = Usage()
    dollars: float | None = 0.0
    requests: int = 0


class Denial(NamedTuple):
    """A call that was not allowed."""

    call: Call
    reason: str


class TurnEnded(NamedTuple):
    """The turn is over. Times in seconds; `text` is the last that the model said."""

    ending: Ending
    text: str
    requests: int
    by_model: Mapping[str, ModelUse]
    denials: Sequence[Denial]
    wall_s: float
    model_s: float
    error: str = ""
    status: int | None = None  # of the model's server
    reason: StopReason | None = None
    object: Any = None  # what was asked for by a schema

    @property
    def usage(self) -> Usage:
        """What all models have used."""
        total = Usage()
        for each in self.by_model.values():
            total = total.plus(each.usage)
        return total

    @property
    def dollars(self) -> float | None:
        """What all of it cost; None if a price is not known."""
        costs = [each.dollars for each in self.by_model.values()]
        return None if None in costs else sum(each for each in costs if each is not None)


Event = (
    TurnStarted
    | AnswerStarted
    | TextDelta
    | ThinkingDelta
    | InputDelta
    | Said
    | Answered
    | Withdrawn
    | Retrying
    | FellBack
    | ToolStarted
    | Progress
    | ToolEnded
    | ToolDenied
    | Compacting
    | Compacted
    | CompactingFailed
    | Continued
    | TurnEnded
)
