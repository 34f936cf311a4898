"""A call at work: what a person may do with it, and what its agent says of itself.

What the agent says is for the budget, the record, and those who watch.
"""

import asyncio
from collections.abc import Callable
from enum import StrEnum

from siding.workflows.budget import Budget, Reservation
from siding.workflows.calls import AgentCall
from siding.workflows.engine.ports import Report
from siding.workflows.events import AgentProgress, Emit
from siding.workflows.outcome import Outcome, Used


class Control(StrEnum):
    """What is to become of an agent's call."""

    SKIP = "skip"  # the script goes on without it
    RETRY = "retry"  # its attempt is ended, and another one begins
    KILL = "kill"  # its attempt is ended; it failed


class Running:
    """An agent's call that is not answered, and what a person wants of it."""

    def __init__(self) -> None:
        self.wanted: Control | None = None
        self.attempt: asyncio.Task[Outcome] | None = None
        self.waits = asyncio.Event()  # set: whoever waits between attempts goes on

    def take(self) -> Control | None:
        """Return what is wanted, and forget it."""
        wanted, self.wanted = self.wanted, None
        self.waits.clear()
        return wanted

    def want(self, control: Control) -> None:
        """Let a control take effect."""
        self.wanted = control
        self.waits.set()
        if self.attempt is not None:
            self.attempt.cancel()


class Taken:
    """A call that has its slot and its share of the budget.

    `used` is what all its attempts have used so far, also when an error ends it. `on_work` writes
    down that it is at work, and its conversation.
    """

    def __init__(
        self,
        call: AgentCall,
        running: Running,
        reservation: Reservation,
        on_work: Callable[[str], None],
    ) -> None:
        self.call = call
        self.running = running
        self.reservation = reservation
        self.on_work = on_work
        self.used = Used()


class Reports:
    """Takes the reports of one attempt, and ends it when it may not go on.

    `is_over` says then that it needed more than the budget has. `failed` is the error of a disk on
    which its conversation could not be written down: no fault of the agent, so the run has to end.
    """

    def __init__(self, taken: Taken, budget: Budget, emit: Emit) -> None:
        self.newest = Report()
        self.is_over = False
        self.failed: OSError | None = None
        self._taken = taken
        self._before = taken.used
        self._budget = budget
        self._emit = emit

    def take(self, report: Report) -> None:
        """Take a report. The conversation of an attempt is written down when it is first told."""
        session = report.work.session
        if session and session != self.newest.work.session:
            self._note_session(session)
        self.newest = report
        self.count(report.used)
        self._emit(
            AgentProgress(
                id=self._taken.call.id,
                used=self._taken.used,
                work=report.work,
                says=report.says,
            )
        )
        self._reserve()

    def count(self, used: Used) -> None:
        """Count what this attempt has used to what there was before it."""
        self._taken.used = added(self._before, used)

    def _end(self) -> None:
        attempt = self._taken.running.attempt
        if attempt is not None:
            # Not at once: one that has its answer and returns now keeps it.
            asyncio.get_running_loop().call_soon(attempt.cancel)

    def _note_session(self, session: str) -> None:
        try:
            self._taken.on_work(session)
        except OSError as error:
            self.failed = error
            self._end()

    def _reserve(self) -> None:
        if self.is_over:
            return
        reservation = self._budget.extended(self._taken.reservation, self._taken.used)
        if reservation is None:
            self.is_over = True
            self._end()
        else:
            self._taken.reservation = reservation


def added(before: Used, now: Used) -> Used:
    """Return the sum. Dollars are unknown only if neither is known."""
    dollars = [one for one in (before.dollars, now.dollars) if one is not None]
    return Used(
        tokens=before.tokens + now.tokens,
        input_tokens=before.input_tokens + now.input_tokens,
        dollars=sum(dollars) if dollars else None,
        tools=before.tools + now.tools,
        model=now.model or before.model,
    )
