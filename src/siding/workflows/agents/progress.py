"""What is seen of an agent while it runs, and what it has used in the end.

While it runs it is read in the thread of its run and told in the loop. What an attempt used is what
the agent says, else what its transcript says.
"""

import time
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from siding.agents.headless.output import last_line
from siding.agents.headless.port import Seen, Stream
from siding.ground.errors import SidingError
from siding.record.ledger.step import Step
from siding.record.ledger.usage import Usage, summed
from siding.record.place.redaction import Redaction
from siding.record.place.wiring import App
from siding.running.hosting import Began, RunEvent
from siding.usage.report import prices_here
from siding.workflows.agents.hop import Bell
from siding.workflows.engine.ports import Report
from siding.workflows.outcome import Used, Work

if TYPE_CHECKING:
    from siding.usage.prices import Prices

_KEPT = 4096  # bytes of standard error, for what is said of a failure


class Watching:
    """Follows one run. Everything but `report` may be called in the thread of the run."""

    def __init__(
        self,
        stream: Stream,
        redaction: Redaction,
        tell: Callable[[Report], None],
        *,
        priced: Callable[[Used], Used],
        session: str,
        fork: str,
    ) -> None:
        self._stream = stream
        self._session = session
        self._redaction = redaction
        self._tell = tell
        self._priced = priced
        self._used = Used()
        self._told = Report()
        self._moved = time.monotonic()
        self._stderr = b""
        self._work = Work(fork=fork)
        self.bell: Bell | None = None

    @property
    def seen(self) -> Seen:
        seen = self._stream.seen
        return seen if seen.session else seen._replace(session=self._session)

    @property
    def work(self) -> Work:
        """Where its work can be seen, as far as it is known."""
        return self._work._replace(session=self.seen.session)

    @property
    def last_error(self) -> str:
        """The last line on its standard error that says something."""
        return self._redaction.text(last_line(self._stderr.decode("utf-8", "replace")))

    def idle_s(self) -> float:
        """Return for how many seconds it has printed nothing."""
        return time.monotonic() - self._moved

    def observe(self, event: RunEvent) -> None:
        """Take what the run is told of."""
        self._moved = time.monotonic()
        if isinstance(event, Began):
            self._work = self._work._replace(task=event.task.id, run=event.run.id)
        elif event.is_stderr:
            self._stderr = (self._stderr + event.data)[-_KEPT:]
            return
        else:
            before = self._stream.seen
            self._stream.feed(event.data)
            if self._stream.seen is before:
                return
            self._used = self._priced(used_in(self._stream.seen))
        if self.bell is not None:
            self.bell.ring()

    def over(self) -> Seen:
        """Return all that was seen, when no more will come."""
        self._stream.end()
        return self.seen

    def report_ended(self, used: Used) -> None:
        """Tell what was used in all, of a run that was ended; called in the loop."""
        self._used = used
        self.report()

    def report(self) -> None:
        """Tell how far it is; called in the loop."""
        seen = self.seen
        now = Report(used=self._used, work=self.work, says=self._redaction.text(seen.says))
        if now != self._told:
            self._told = now
            self._tell(now)


def used_in(seen: Seen) -> Used:
    """Return what an agent says that it has used."""
    return Used(
        tokens=seen.tokens,
        input_tokens=seen.input_tokens,
        dollars=seen.dollars,
        tools=seen.tools,
        model=seen.model,
    )


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
