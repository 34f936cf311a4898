"""What the models of a conversation have used, kept in its transcript from process to process."""

from collections.abc import Mapping

from siding.agents.transcripts.kinds import Record
from siding.assistant.loop.events import ModelUse
from siding.assistant.loop.messages import Usage
from siding.ground.storage.fields import mapping, whole


def entry_of(total: Mapping[str, ModelUse], now: str) -> Record:
    """Return the line that says what was used in the conversation until now."""
    costs = [each.dollars for each in total.values()]
    return {
        "type": "cost-state",
        "timestamp": now,
        **({} if None in costs else {"totalCostUSD": sum(each or 0.0 for each in costs)}),
        "modelUsage": {
            model: {
                "inputTokens": use.usage.input,
                "outputTokens": use.usage.output,
                "cacheReadInputTokens": use.usage.cache_read,
                "cacheCreationInputTokens": use.usage.cache_write,
                "requests": use.requests,
                **({} if use.dollars is None else {"costUSD": use.dollars}),
            }
            for model, use in total.items()
        },
    }


def used_in(entry: Record | None) -> dict[str, ModelUse]:
    """Return what such a line says; {} if there is none."""
    return {
        model: _use(mapping(found))
        for model, found in mapping((entry or {}).get("modelUsage")).items()
    }


def _use(found: Mapping[str, object]) -> ModelUse:
    dollars = found.get("costUSD")
    return ModelUse(
        Usage(
            input=whole(found.get("inputTokens")),
            output=whole(found.get("outputTokens")),
            cache_read=whole(found.get("cacheReadInputTokens")),
            cache_write=whole(found.get("cacheCreationInputTokens")),
        ),
        float(dollars) if isinstance(dollars, int | float) else None,
        whole(found.get("requests")),
    )


def added(one: Mapping[str, ModelUse], other: Mapping[str, ModelUse]) -> dict[str, ModelUse]:
    """Return the sums by model. A sum with a part that is not known is not known."""
    return {
        model: _sum(one.get(model, ModelUse()), other.get(model, ModelUse()))
        for model in dict.fromkeys((*one, *other))
    }


def _sum(one: ModelUse, other: ModelUse) -> ModelUse:
    dollars = None
    if one.dollars is not None and other.dollars is not None:
        dollars = one.dollars + other.dollars
    return ModelUse(one.usage.plus(other.usage), dollars, one.requests + other.requests)
