"""What the turns of Claude Code use. Its sums of money are those of the whole conversation."""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Used
from siding.ground.storage.fields import mapping, mappings, whole


class Spending:
    """`is_new`: the conversation has begun with this process, and nothing was spent before."""

    def __init__(self, *, is_new: bool) -> None:
        self._dollars: float | None = 0.0 if is_new else None
        self._context = 0

    def asked(self, usage: Mapping[str, Any]) -> None:
        """Take what a request of the conversation has sent: so full is the window."""
        self._context = _sent(usage)

    def used(self, result: Mapping[str, Any]) -> list[Used]:
        """Return what a turn has used, of its result; [] if it asked no model."""
        usage = mapping(result.get("usage"))
        dollars = self._since(result.get("total_cost_usd"))
        output, cached = whole(usage.get("output_tokens")), _cached(usage)
        given = _sent(usage) - cached
        if not (output or cached or given):
            return []
        models = mapping(result.get("modelUsage")).values()
        windows = [whole(each.get("contextWindow")) for each in mappings([*models])]
        return [
            Used(
                input=given,
                output=output,
                cached=cached,
                context=self._context,
                window=windows[0] if len(windows) == 1 else 0,
                dollars=dollars,
            )
        ]

    def _since(self, total: object) -> float | None:
        """Return how much has been added to the sum, which begins anew with a conversation."""
        if not isinstance(total, int | float):
            return None
        before, self._dollars = self._dollars, float(total)
        if before is None:
            return None
        return self._dollars - before if self._dollars >= before else self._dollars


def _cached(usage: Mapping[str, Any]) -> int:
    return whole(usage.get("cache_read_input_tokens"))


def _sent(usage: Mapping[str, Any]) -> int:
    fresh = whole(usage.get("input_tokens")) + whole(usage.get("cache_creation_input_tokens"))
    return fresh + _cached(usage)
