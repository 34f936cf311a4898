"""What the agent tells, as the lines of Claude Code's stream of JSON. It reads and writes nothing.

What that stream has no message for is a message `system` with a subtype of Siding's own
(`answer_withdrawn`, `model_fallback`): programs pass over subtypes that they do not know.

An answer as it comes is told as the events of Anthropic's streaming API. They are made up from what
the loop tells, so they are the same for all models: an answer begins, each block begins, grows and
ends, the answer ends. Blocks are numbered from 0 without gaps.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from siding.assistant.front_end import (
    Answered,
    AnswerStarted,
    Block,
    Compacted,
    Compacting,
    CompactingFailed,
    Continued,
    Ending,
    Event,
    FellBack,
    InputDelta,
    ModelUse,
    Progress,
    Retrying,
    Said,
    TextDelta,
    ThinkingDelta,
    ToolDenied,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Usage,
    Withdrawn,
)
from siding.assistant.session import added
from siding.ground.namedtuples import NamedTuple

_Event = dict[str, Any]
Delta = TextDelta | ThinkingDelta | InputDelta
Line = dict[str, Any]
# Whose stream of JSON this is. Programs ask for it to know what they may expect.
_SPOKEN = "2.1.329"
_SUBTYPES = {
    Ending.INTERRUPTED: "error_during_execution",
    Ending.MAX_TURNS: "error_max_turns",
    Ending.MAX_BUDGET: "error_max_budget_usd",
    Ending.NO_OBJECT: "error_max_structured_output_retries",
}
# A turn whose model failed is a `success` with `is_error`, as scripts know it from Claude Code.
_FAILED = frozenset({Ending.MODEL_ERROR, Ending.TOO_LONG, Ending.MAX_TOKENS})
# The words of Claude Code; the others are the same.
_REASONS = {Ending.INTERRUPTED: "aborted_streaming", Ending.MODEL_ERROR: "api_error"}
_INTERRUPTED = 130


class Partial:
    """The blocks of one answer that are under way."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # the model's place of a block -> our number
        self._begun = 0

    def started(self, event: AnswerStarted) -> list[_Event]:
        """Return the beginning of an answer."""
        self._open.clear()
        self._begun = 0
        message = message_of(event.answer, event.model, [], event.usage)
        return [{"type": "message_start", "message": message}]

    def grown(self, delta: Delta) -> list[_Event]:
        """Return what a delta adds, after the beginning of its block if it is the first."""
        begins = [] if delta.at in self._open else [self._begin(delta.at, _empty(delta))]
        return [*begins, _delta(self._open[delta.at], _growth(delta))]

    def ended(self, block: Block) -> list[_Event]:
        """Return the end of a block. One of which nothing was told comes whole."""
        whole: list[_Event] = []
        if not self._open:
            whole = self._whole(block)
        at = min(self._open)
        return [*whole, {"type": "content_block_stop", "index": self._open.pop(at)}]

    def answered(self, event: Answered) -> list[_Event]:
        """Return the end of an answer."""
        delta = {"stop_reason": event.reason.value, "stop_sequence": None}
        return [
            {"type": "message_delta", "delta": delta, "usage": usage_of(event.usage)},
            {"type": "message_stop"},
        ]

    def _begin(self, at: int, block: Block) -> _Event:
        self._open[at] = self._begun
        self._begun += 1
        return {"type": "content_block_start", "index": self._open[at], "content_block": block}

    def _whole(self, block: Block) -> list[_Event]:
        at = self._begun
        match block.get("type"):
            case "text":
                delta: Delta = TextDelta(at, block["text"])
            case "thinking":
                delta = ThinkingDelta(at, block["thinking"])
            case "tool_use":
                delta = InputDelta(at, block["id"], block["name"], json.dumps(block["input"]))
            case _:
                return [self._begin(at, block)]
        return self.grown(delta)


def message_of(answer: str, model: str, content: list[Block], usage: Usage) -> dict[str, Any]:
    """Return a message of the model, as its API has it."""
    return {
        "id": answer,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage_of(usage),
    }


def _empty(delta: Delta) -> Block:
    match delta:
        case TextDelta():
            return {"type": "text", "text": ""}
        case ThinkingDelta():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case InputDelta():
            return {"type": "tool_use", "id": delta.id, "name": delta.name, "input": {}}


def _growth(delta: Delta) -> dict[str, Any]:
    match delta:
        case TextDelta():
            return {"type": "text_delta", "text": delta.text}
        case ThinkingDelta():
            return {"type": "thinking_delta", "thinking": delta.text}
        case InputDelta():
            return {"type": "input_json_delta", "partial_json": delta.json}


def _delta(index: int, growth: dict[str, Any]) -> _Event:
    return {"type": "content_block_delta", "index": index, "delta": growth}


class Facts(NamedTuple):
    """What the first line of each turn says of the conversation."""

    session: str
    cwd: str
    model: str
    mode: str = "default"
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    servers: tuple[Mapping[str, str], ...] = ()  # of MCP: `name` and `status`
    commands: tuple[str, ...] = ()
    key: str = "none"  # where the key of the model's provider comes from
    version: str = ""
    origin: Mapping[str, Any] | None = None  # of the prompt, as the client has named it


class Translator:
    """Translates the events of one conversation. `new_id` makes ids of messages.

    `used` is what its models had used before this process began.
    """

    def __init__(
        self,
        facts: Facts,
        new_id: Callable[[], str],
        *,
        has_partial: bool = False,
        used: Mapping[str, ModelUse] | None = None,
    ) -> None:
        self.facts = facts
        self._new_id = new_id
        self._partial = Partial() if has_partial else None
        self._used = dict(used or {})

    def now(self, **facts: Any) -> None:
        """Say other facts from now on."""
        self.facts = self.facts._replace(**facts)

    def lines(self, event: Event) -> list[Line]:
        """Return the lines of one event."""
        match event:
            case TurnStarted():
                return [self._init()]
            case AnswerStarted():
                return self._streamed(lambda partial: partial.started(event))
            case TextDelta() | ThinkingDelta() | InputDelta():
                return self._streamed(lambda partial: partial.grown(event))
            case Said():
                ends = self._streamed(lambda partial: partial.ended(event.block))
                # The end of a block comes after its message, and its beginning before.
                return [*ends[:-1], self._said(event), *ends[-1:]]
            case Answered():
                return self._streamed(lambda partial: partial.answered(event))
            case ToolEnded():
                return [self._result(event)]
            case TurnEnded():
                self._used = added(self._used, event.by_model)
                origin = {} if self.facts.origin is None else {"origin": self.facts.origin}
                return [self._whole({**result_of(event, self._used), **origin})]
            case ToolStarted() | Progress() | Continued():
                return []
            case _:
                return self._happened(event)

    def _happened(
        self,
        event: Withdrawn
        | Retrying
        | FellBack
        | ToolDenied
        | Compacting
        | Compacted
        | CompactingFailed,
    ) -> list[Line]:
        match event:
            case Withdrawn():
                fields = {"message_id": event.answer, "withdrawn": list(event.messages)}
                return [self._system("answer_withdrawn", fields)]
            case Retrying():
                return [self._system("api_retry", _retry(event))]
            case FellBack():
                self.facts = self.facts._replace(model=event.model)
                return [self._system("model_fallback", event._asdict())]
            case ToolDenied():
                return [self._system("permission_denied", _denied(event))]
            case Compacting():
                return [self._system("status", {"status": "compacting"})]
            case Compacted():
                return [self._system("status", {"status": None}), self._boundary(event)]
            case CompactingFailed():
                return [self._system("status", {"status": None, "compact_error": event.why})]

    def _init(self) -> Line:
        facts = self.facts
        return self._system(
            "init",
            {
                "cwd": facts.cwd,
                "tools": list(facts.tools),
                "mcp_servers": [dict(each) for each in facts.servers],
                "model": facts.model,
                "permissionMode": facts.mode,
                "slash_commands": list(facts.commands),
                "apiKeySource": facts.key,
                "siding_version": facts.version,
                "claude_code_version": _SPOKEN,
                "output_style": "default",
                "agents": list(facts.agents),
                "skills": [],
                "plugins": [],
            },
        )

    def _said(self, event: Said) -> Line:
        message = message_of(event.answer, event.model, [_readable(event.block)], event.usage)
        return self._whole(
            {"type": "assistant", "message": message, "parent_tool_use_id": None}, event.id
        )

    def _result(self, event: ToolEnded) -> Line:
        result = event.result
        content = result.content
        block: Block = {
            "tool_use_id": event.call.id,
            "type": "tool_result",
            "content": content if isinstance(content, str) else [dict(each) for each in content],
        }
        if result.is_error:
            block["is_error"] = True
        return self._whole(
            {
                "type": "user",
                "message": {"role": "user", "content": [block]},
                "parent_tool_use_id": None,
                "tool_use_result": dict(result.details) or content,
            },
            event.id,
        )

    def _boundary(self, event: Compacted) -> Line:
        fields = {"trigger": event.trigger, "pre_tokens": event.tokens}
        return self._system("compact_boundary", {"compact_metadata": fields}, event.id)

    def _streamed(self, events: Callable[[Partial], list[dict[str, Any]]]) -> list[Line]:
        if self._partial is None:
            return []
        return [
            self._whole({"type": "stream_event", "event": each, "parent_tool_use_id": None})
            for each in events(self._partial)
        ]

    def _system(self, subtype: str, fields: Mapping[str, Any], uuid: str = "") -> Line:
        return self._whole({"type": "system", "subtype": subtype, **fields}, uuid)

    def _whole(self, fields: Line, uuid: str = "") -> Line:
        return {**fields, "session_id": self.facts.session, "uuid": uuid or self._new_id()}


def _readable(block: Block) -> Block:
    """Return the block with what clients require of it: thoughts of other models are unsigned."""
    return {"signature": "", **block} if block.get("type") == "thinking" else block


def _retry(event: Retrying) -> dict[str, Any]:
    return {
        "attempt": event.attempt,
        "max_retries": event.most,
        "retry_delay_ms": round(event.after_s * 1000),
        "error_status": event.status,
        "error": event.trouble.value,
        "message": event.message,
    }


def _denied(event: ToolDenied) -> dict[str, Any]:
    return {
        "tool_name": event.call.name,
        "tool_use_id": event.call.id,
        "tool_input": dict(event.call.given),
        "message": event.reason,
    }


def subtype_of(ending: Ending) -> str:
    """Return the subtype of the result of a turn that ended like this."""
    return _SUBTYPES.get(ending, "success")


def is_error(ending: Ending) -> bool:
    """Tell whether a turn that ended like this has not done what was asked for."""
    return ending in _SUBTYPES or ending in _FAILED


def exit_status(ending: Ending) -> int:
    """Return the exit status of `siding agent -p` after a turn that ended like this."""
    if ending is Ending.INTERRUPTED:
        return _INTERRUPTED
    return 1 if is_error(ending) else 0


def failed(why: str, uuid: str) -> dict[str, Any]:
    """Return the whole message of a conversation that could not be begun, or broke off."""
    return {
        "type": "result",
        "subtype": "error_during_execution",
        "is_error": True,
        "errors": [why],
        "session_id": "",
        "uuid": uuid,
    }


def said_at_end(event: TurnEnded) -> str:
    """Return the text that a person reads as the result: the answer, or why there is none."""
    if event.ending in _FAILED and event.error:
        return event.error
    return event.text


def result_of(event: TurnEnded, total: Mapping[str, ModelUse]) -> dict[str, Any]:
    """Return the message without the fields that all messages have.

    `total` is what the models have used in the conversation, this turn included.
    """
    subtype = subtype_of(event.ending)
    found: dict[str, Any] = {
        "type": "result",
        "subtype": subtype,
        "is_error": is_error(event.ending),
        "api_error_status": event.status,
        "duration_ms": round(event.wall_s * 1000),
        "duration_api_ms": round(event.model_s * 1000),
        "num_turns": event.requests,
        "stop_reason": None if event.reason is None else event.reason.value,
        "terminal_reason": _REASONS.get(event.ending, event.ending.value),
        "total_cost_usd": dollars_of(total),
        "usage": usage_of(event.usage),
        "modelUsage": models_used(total),
        "model_usage_since_last_result": models_used(event.by_model),
        "permission_denials": [
            {
                "tool_name": each.call.name,
                "tool_use_id": each.call.id,
                "tool_input": dict(each.call.given),
            }
            for each in event.denials
        ],
    }
    if subtype == "success":
        found["result"] = said_at_end(event)
    else:
        found["errors"] = [event.error or subtype]
    if event.object is not None:
        found["structured_output"] = event.object
    return found


def usage_of(usage: Usage) -> dict[str, Any]:
    """Return the usage of a request, as Anthropic's API has it."""
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }


def models_used(by_model: Mapping[str, ModelUse]) -> dict[str, Any]:
    """Return what each model has used. `costUSD` is null if the price is not known."""
    return {
        model: {
            "inputTokens": use.usage.input,
            "outputTokens": use.usage.output,
            "cacheReadInputTokens": use.usage.cache_read,
            "cacheCreationInputTokens": use.usage.cache_write,
            "webSearchRequests": 0,
            "costUSD": use.dollars,
        }
        for model, use in by_model.items()
    }


def dollars_of(by_model: Mapping[str, ModelUse]) -> float | None:
    """Return what all models cost; None if a price is not known."""
    costs = [use.dollars for use in by_model.values()]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
