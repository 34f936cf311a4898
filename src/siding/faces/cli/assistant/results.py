"""The end of a turn: the message `result` of Claude Code's stream, its usage, the exit status."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.front_end import Ending, ModelUse, TurnEnded, Usage

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
