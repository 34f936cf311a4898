"""Usage of models, in the words of Claude Code's stream of JSON."""

from collections.abc import Mapping
from typing import Any

from siding.assistant.front_end import ModelUse, Usage


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
