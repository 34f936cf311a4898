"""What a turn has used, as agents that speak ACP count it.

What an agent says may be of a request, of a turn, or of the conversation (`Counts`). Where nobody
knows what it is of, nothing is told.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.acp.habits import Counts
from siding.agents.talking.port import Used
from siding.ground.storage.fields import mapping, text, whole


class Meter:
    """The tokens and the money of one conversation, turn by turn."""

    def __init__(self, counts: Counts, *, is_new: bool) -> None:
        self._counts = counts
        # Of a conversation that is gone on with, nobody knows what it had used before.
        self._so_far = Used() if is_new else None
        self._spent_before: float | None = 0.0 if is_new else None
        self._spent: float | None = None
        self._turn = Used()

    @property
    def context(self) -> int:
        return self._turn.context

    def begin(self) -> None:
        """Begin a turn."""
        if self._spent is not None:
            self._spent_before = self._spent
        self._turn = Used(context=self._turn.context, window=self._turn.window)

    def window(self, update: Mapping[str, Any]) -> Used | None:
        """Take a `usage_update`; return what is known of the turn, None if that is as it was."""
        before = self._turn
        cost = mapping(update.get("cost"))
        amount = cost.get("amount")
        if isinstance(amount, int | float) and amount > 0 and text(cost.get("currency")) == "USD":
            self._spent = float(amount)
        self._turn = before._replace(
            context=max(0, whole(update.get("used"))) or before.context,
            window=max(0, whole(update.get("size"))) or before.window,
            dollars=self._dollars(),
        )
        return self._turn if self._turn != before else None

    def piece(self, update: Mapping[str, Any]) -> Used | None:
        """Take a piece of text, which may have what a request has used."""
        given = mapping(mapping(update.get("_meta")).get("usage"))
        if self._counts is not Counts.PIECES or not given:
            return None
        one = _standard(given)
        self._turn = self._turn._replace(
            input=self._turn.input + one.input,
            output=self._turn.output + one.output,
            cached=self._turn.cached + one.cached,
        )
        return self._turn

    def end(self, result: Mapping[str, Any]) -> Used | None:
        """Take the answer to a prompt; return what the turn has used, None if it is not known."""
        given = mapping(result.get("usage"))
        if self._counts is Counts.QUOTA:
            count = mapping(mapping(mapping(result.get("_meta")).get("quota")).get("token_count"))
            self._turn = self._turn._replace(
                input=whole(count.get("input_tokens")), output=whole(count.get("output_tokens"))
            )
        elif self._counts is Counts.SO_FAR and given:
            now, before = _standard(given), self._so_far
            self._so_far = now
            if before is not None:
                self._turn = self._turn._replace(
                    input=max(0, now.input - before.input),
                    output=max(0, now.output - before.output),
                    cached=max(0, now.cached - before.cached),
                )
        return self._turn if self._turn != Used() else None

    def _dollars(self) -> float | None:
        if self._spent is None or self._spent_before is None:
            return None
        return max(0.0, self._spent - self._spent_before)


def _standard(given: Mapping[str, Any]) -> Used:
    """Return tokens that are named as the protocol does. Thoughts are beside the output."""
    return Used(
        input=whole(given.get("inputTokens")),
        output=whole(given.get("outputTokens")) + whole(given.get("thoughtTokens")),
        cached=whole(given.get("cachedReadTokens")),
    )
