"""What a turn of Codex has used: it counts for the whole thread, so this is what that grew by."""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Event, Used
from siding.ground.storage.fields import mapping, whole

_COUNTED = ("inputTokens", "outputTokens", "cachedInputTokens")
_Counts = tuple[int, ...]
_NOTHING: _Counts = (0,) * len(_COUNTED)


class TokenUse:
    """The use of one thread."""

    def __init__(self) -> None:
        self.context = 0  # tokens in the window
        self._total: _Counts | None = None  # None: not told yet
        self._before: _Counts | None = _NOTHING  # the turn; None: not known
        self._in_turn = False

    def begin(self) -> None:
        self._before = self._total
        self._in_turn = True

    def read(self, params: Mapping[str, Any]) -> list[Event]:
        use = mapping(params.get("tokenUsage"))
        last, total = mapping(use.get("last")), _counts(mapping(use.get("total")))
        self.context = whole(last.get("totalTokens"))
        self._total = total
        if not self._in_turn:
            return []
        if self._before is None:
            # A thread that was gone on with: it has been told of no total before this one.
            self._before = _less(total, _counts(last))
        sent, output, cached = _less(total, self._before)
        window = whole(use.get("modelContextWindow"))
        given = max(0, sent - cached)  # Codex counts what a cache had among the input
        return [Used(given, output, cached, context=self.context, window=window)]


def _counts(breakdown: Mapping[str, Any]) -> _Counts:
    return tuple(whole(breakdown.get(each)) for each in _COUNTED)


def _less(more: _Counts, less: _Counts) -> _Counts:
    return tuple(max(0, a - b) for a, b in zip(more, less, strict=True))
