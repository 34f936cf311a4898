"""What an attempt used: what the agent says, else what its transcript says."""

from functools import cached_property
from typing import TYPE_CHECKING

from siding.agents.headless.port import Seen
from siding.ground.errors import SidingError
from siding.record.ledger.step import Step
from siding.record.ledger.usage import Usage, summed
from siding.record.place.wiring import App
from siding.usage.report import prices_here
from siding.workflows.agents.watching import used_in
from siding.workflows.outcome import Used

if TYPE_CHECKING:
    from siding.usage.prices import Prices


class Pricing:
    """The prices that are known here, read when the first is asked for."""

    def __init__(self, app: App) -> None:
        self._app = app

    def at_least(self, used: Used) -> Used:
        """Return what was used with the least that it can have cost, where its dollars are unknown.

        Nobody says how much of what was sent came from a cache, so all of it counts as if it had.
        """
        if used.dollars is not None or self._prices is None or not used.model:
            return used
        now_ms = int(self._app.clock.now().timestamp() * 1000)
        rates = self._prices.rates("", used.model, now_ms, 0)
        if rates is None:
            return used
        sent = used.input_tokens * min(rates.cache_read, rates.input)
        return used._replace(dollars=used.tokens * rates.output + sent)

    @cached_property
    def _prices(self) -> "Prices | None":
        try:
            return prices_here(self._app)
        except SidingError:
            return None


def used_by(app: App, step: Step | None, seen: Seen) -> Used:
    """Return what was used. Dollars are the agent's own, else by the prices that are known here."""
    said = used_in(seen)
    recorded = step.usage if step is not None else {}
    if not said.tokens and recorded:
        total = summed(recorded)
        model = said.model or next(iter(recorded))
        said = said._replace(tokens=total.output, input_tokens=total.sent, model=model)
    if said.dollars is None and recorded:
        said = said._replace(dollars=_dollars(app, recorded))
    return said


def _dollars(app: App, usage: Usage) -> float | None:
    """Return what a usage costs; None if a price is not known. Larger contexts may cost more."""
    try:
        prices = prices_here(app)
    except SidingError:
        return None
    if prices.is_empty:
        return None
    total, at_ms = 0.0, int(app.clock.now().timestamp() * 1000)
    for model, used in usage.items():
        rates = prices.rates("", model, at_ms, 0)
        if rates is None:
            return None
        total += used.input * rates.input + used.output * rates.output
        total += used.cache_read * rates.cache_read
        total += used.cache_write_5m * rates.cache_write_5m
        total += used.cache_write_1h * rates.cache_write_1h
    return total
