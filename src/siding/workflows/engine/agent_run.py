"""One call of an agent: its slot, its budget, its attempts.

While it is at work a person may skip, retry or kill it. What its agent says of itself is for the
budget, the record, and those who watch.
"""

import asyncio
from collections.abc import Callable

from siding.workflows.engine.ports import (
    AgentCall,
    Agents,
    AgentUnavailable,
    Attempt,
    CannotRecord,
    Control,
    Report,
)
from siding.workflows.events import AgentProgress, AgentRetry, AgentStarted, Emit, Logged
from siding.workflows.limits import Budget, Reservation, Retrying
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome, Skipped, Used, Work
from siding.workflows.structured import correction, misfits

_DETAIL = 300  # characters of a reason that are shown


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


# -- The attempts at a call ------------------------------------------------------------------------


class BudgetSpent(Exception):
    """What the run may use is used."""


class AgentRuns:
    """Runs the agents of one run. Nothing here is recorded: the caller does that."""

    def __init__(
        self,
        agents: Agents,
        budget: Budget,
        retrying: Retrying,
        emit: Emit,
        *,
        concurrency: int,
        random: Callable[[], float],
    ) -> None:
        self._agents = agents
        self._budget = budget
        self._retrying = retrying
        self._emit = emit
        self._random = random
        self._slots = asyncio.Semaphore(concurrency)
        self._settled = asyncio.Condition()
        self._running: dict[int, Running] = {}

    def control(self, number: int, control: Control) -> bool:
        """Skip, retry or kill an agent that is at work or waits; False if there is none."""
        running = self._running.get(number)
        if running is None:
            return False
        running.want(control)
        return True

    async def run(self, call: AgentCall, session: str, on_work: Callable[[str], None]) -> Outcome:
        """Return how the call came out. `session` is the conversation of an attempt cut off before.

        `on_work` is told that an attempt begins, and its conversation ("" is a new one), and again
        when its conversation is known. Raises BudgetSpent and AgentUnavailable.
        """
        running = self._running[call.id] = Running()
        try:
            async with self._slots:
                return await self._in_slot(call, session, running, on_work)
        finally:
            if self._running.get(call.id) is running:
                del self._running[call.id]

    async def _in_slot(
        self, call: AgentCall, session: str, running: Running, on_work: Callable[[str], None]
    ) -> Outcome:
        reservation = await self._reserve(call, running)
        if reservation is None:
            return _controlled(running.take(), Used(), Dead()) or Skipped()
        taken = Taken(call, running, reservation, on_work)
        try:
            self._emit(
                AgentStarted(
                    id=call.id,
                    label=call.label,
                    phase=call.phase,
                    prompt=call.prompt,
                    agent_type=call.agent_type,
                )
            )
            return await self._attempts(taken, session)
        finally:
            self._budget.settle(taken.reservation, taken.used)
            async with self._settled:
                self._settled.notify_all()

    async def _reserve(self, call: AgentCall, running: Running) -> Reservation | None:
        """Set aside what the call may use; None if a person wants no attempt of it any more."""
        while True:
            if running.wanted is Control.RETRY:
                running.take()  # it has not begun: there is nothing to do again
            if running.wanted is not None:
                return None
            if self._budget.is_spent:
                raise BudgetSpent(_spent(self._budget))
            reservation = self._budget.try_reserve(call.max_tokens)
            if reservation is not None:
                return reservation
            async with self._settled:
                await self._settled.wait()

    async def _attempts(self, taken: Taken, session: str) -> Outcome:
        call, running = taken.call, taken.running
        attempt, retries = Attempt(session=session), 0
        while True:
            if _is_cancelled():
                raise asyncio.CancelledError  # the agent has ended all the same; the run ends
            if (ended := _controlled(running.take(), taken.used, Dead())) is not None:
                return ended
            taken.on_work(attempt.session)
            outcome = await self._attempt(taken, attempt)
            control = running.take()
            if (ended := _controlled(control, taken.used, outcome)) is not None:
                return ended
            if control is Control.RETRY:
                attempt = Attempt(number=attempt.number + 1)
                continue
            outcome = _checked(call, outcome)
            if not isinstance(outcome, Dead):
                return _with_used(outcome, taken.used)
            limit = self._retrying.limit_for(outcome, call.retries)
            if retries >= limit:
                return outcome._replace(used=taken.used)
            retries += 1
            await self._wait(call, outcome, retries, limit, running)
            attempt = _next(attempt, outcome)

    async def _attempt(self, taken: Taken, attempt: Attempt) -> Outcome:
        """Run the agent once; return how it came out, and add what it used to what was before."""
        running = taken.running
        reports = Reports(taken, self._budget, self._emit)
        task = asyncio.ensure_future(self._agents.run(taken.call, attempt, reports.take))
        running.attempt = task
        try:
            outcome = await task
        except asyncio.CancelledError:
            if _is_cancelled():  # the run ends, whatever else is wanted
                await _ended(task)
                raise
            outcome = _cancelled(reports, running)
        except (AgentUnavailable, CannotRecord):
            raise
        except Exception as error:  # noqa: BLE001 - what an agent does is no fault of the run
            detail = str(error) or type(error).__name__
            outcome = Dead(reason=DeadReason.THREW, detail=detail)
        finally:
            running.attempt = None
        if reports.failed is not None:
            raise reports.failed
        reported = outcome.used if isinstance(outcome, Done | Dead) else Used()
        if reported != Used():
            reports.count(reported)
        return _with_work(outcome, reports.newest.work)

    async def _wait(
        self, call: AgentCall, dead: Dead, retry: int, limit: int, running: Running
    ) -> None:
        wait_s = self._retrying.wait_s(retry, self._random)
        self._emit(
            AgentRetry(
                id=call.id,
                attempt=retry,
                limit=limit,
                reason=str(dead.reason),
                detail=dead.detail[:_DETAIL],
                delay_ms=round(wait_s * 1000),
            )
        )
        self._emit(Logged(message=_retrying(call, dead, retry, limit, wait_s), is_warning=True))
        if wait_s:
            try:
                await asyncio.wait_for(running.waits.wait(), wait_s)
            except TimeoutError:
                pass


def _cancelled(reports: Reports, running: Running) -> Dead:
    """Return how an attempt came out that was ended while the run goes on."""
    if reports.is_over:
        return Dead(
            reason=DeadReason.BUDGET,
            detail="it used more than its share of the run's budget",
            retryable=False,
        )
    if reports.failed is not None or running.wanted is not None:
        return Dead()  # the run ends, or what is wanted says how it goes on
    return Dead(reason=DeadReason.THREW, detail="it was cancelled from within")


def _retrying(call: AgentCall, dead: Dead, retry: int, limit: int, wait_s: float) -> str:
    threw = dead.reason is DeadReason.THREW
    why = "threw" if threw else f"gave no result, {dead.reason}"
    detail = f" ({dead.detail[:_DETAIL]})" if dead.detail else ""
    how = "retrying once" if limit == 1 else f"retry {retry} of {limit}"
    when = f" in {wait_s:.1f} s" if wait_s else ""
    return f"agent {call.name} {why}{detail}; {how}{when}"


def _checked(call: AgentCall, outcome: Outcome) -> Outcome:
    """Return the outcome, or Dead if its result does not fit the call's schema."""
    if call.schema is None or not isinstance(outcome, Done):
        return outcome
    wrong = misfits(call.schema, outcome.output)
    if not wrong:
        return outcome
    return Dead(
        reason=DeadReason.INVALID_STRUCTURED_OUTPUT,
        detail=wrong,
        used=outcome.used,
        work=outcome.work,
    )


def _next(attempt: Attempt, dead: Dead) -> Attempt:
    structured = {DeadReason.INVALID_STRUCTURED_OUTPUT, DeadReason.NO_STRUCTURED_OUTPUT}
    wrong = correction(dead.detail) if dead.reason in structured and dead.detail else ""
    return Attempt(number=attempt.number + 1, correction=wrong)


def _controlled(control: Control | None, used: Used, outcome: Outcome) -> Outcome | None:
    """Return how a call comes out that a person skipped or killed; None for any other."""
    match control:
        case Control.SKIP:
            return Skipped()
        case Control.KILL:
            work = outcome.work if isinstance(outcome, Done | Dead) else Work()
            return Dead(
                reason=DeadReason.KILLED,
                detail="ended by a person",
                retryable=False,
                used=used,
                work=work,
            )
    return None


def _is_cancelled() -> bool:
    """Tell whether it is this task that is cancelled, and not only the attempt that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _with_used(outcome: Outcome, used: Used) -> Outcome:
    return outcome._replace(used=used) if isinstance(outcome, Done) else outcome


def _with_work(outcome: Outcome, work: Work) -> Outcome:
    if isinstance(outcome, Done | Dead) and outcome.work == Work():
        return outcome._replace(work=work)
    return outcome


def _spent(budget: Budget) -> str:
    tokens = budget.tokens
    if tokens.total is not None and tokens.is_spent:
        return f"the budget is spent: {tokens.spent:.0f} of {tokens.total:.0f} tokens"
    return f"the budget is spent: ${budget.dollars.spent:.2f} of ${budget.dollars.total or 0:.2f}"


async def _ended(task: "asyncio.Task[Outcome]") -> None:
    """Wait until a cancelled attempt has really ended."""
    task.cancel()
    await asyncio.wait([task])
