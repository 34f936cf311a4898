"""Run a workflow: from its script and its journal to how it ended."""

import asyncio

from siding.workflows.child.errors import (
    BUDGET,
    CAP,
    CONFIG,
    FORBIDDEN,
    NESTING,
    NOT_DETERMINISTIC,
    SILENT,
)
from siding.workflows.engine.attempt import ScriptAttempt
from siding.workflows.engine.controls import Control
from siding.workflows.engine.edited import without_edited
from siding.workflows.engine.plan import Ports, RunPlan
from siding.workflows.errors import BadResume
from siding.workflows.events import Logged, RunDone, RunStarted
from siding.workflows.journal.records import AttemptLine
from siding.workflows.journal.store import JournalWriter, Recorded, read_journal
from siding.workflows.resume import Policy, Scope

# Failures that another attempt would only repeat.
_FINAL = {CAP, NESTING, CONFIG, BUDGET, NOT_DETERMINISTIC, FORBIDDEN, SILENT, "disk"}


class Engine:
    """One run, whose lock the caller holds. `control` and `stop` may be called while it runs."""

    def __init__(self, plan: RunPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports
        self._attempt: ScriptAttempt | None = None
        self._is_stopped = False

    def control(self, number: int, control: Control) -> bool:
        """Skip, retry or kill an agent; False if it is not at work."""
        return self._attempt is not None and self._attempt.control(number, control)

    def stop(self) -> None:
        """End the run: it was killed."""
        self._is_stopped = True
        if self._attempt is not None:
            self._attempt.stop()

    async def run(self) -> RunDone:
        """Carry the run out, and return how it ended; that is also its last event.

        Cancelling it ends everything that it began and leaves no last event, as if the process had
        died: the run can be resumed. Raises BadResume, DamagedJournal and OSError before anything
        begins.
        """
        recorded = read_journal(self._plan.journal)
        _refuse_selection(self._plan, recorded)
        with JournalWriter(self._plan.journal) as writer:
            if recorded.has_torn_line:  # it is closed now; if only its end was missing, it counts
                recorded = read_journal(self._plan.journal)
            self._ports.emit(
                RunStarted(
                    name=self._plan.shown_name,
                    meta=self._plan.script.meta.as_record() if self._plan.script.meta else None,
                    resumed=bool(recorded.attempts),
                )
            )
            if recorded.has_torn_line:
                self._warn("the last line of the journal was torn: that call is made again")
            done = await self._attempts(recorded, writer)
        self._ports.emit(done)
        return done

    async def _attempts(self, recorded: Recorded, writer: JournalWriter) -> RunDone:
        done = await self._once(self._plan, recorded, writer)
        if done.status != "failed" or done.kind in _FINAL or not self._plan.retries_script:
            return done
        self._warn(f"the script failed and runs once more from its record: {done.error}")
        plan = self._plan._replace(policy=Policy())
        return await self._once(plan, read_journal(self._plan.journal), writer)

    async def _once(self, plan: RunPlan, recorded: Recorded, writer: JournalWriter) -> RunDone:
        if self._is_stopped:
            return RunDone(status="killed")
        line = AttemptLine(
            number=len(recorded.attempts) + 1,
            at=self._ports.stamp(),
            script=plan.script_hash,
            args=plan.args_hash,
            policy={} if plan.policy.scope is Scope.CHECKPOINT else plan.policy.as_message(),
        )
        try:
            writer.write([line])
        except OSError as error:
            text = f"the journal cannot be written: {error}"
            return RunDone(status="failed", error=text, kind="disk")
        current = without_edited(recorded, self._ports.sources)
        self._attempt = ScriptAttempt(plan, self._ports, current, writer)
        try:
            return await self._attempt.run()
        finally:
            self._attempt = None

    def _warn(self, text: str) -> None:
        self._ports.emit(Logged(message=text, is_warning=True))


def _refuse_selection(plan: RunPlan, recorded: Recorded) -> None:
    if not recorded.attempts and plan.policy.scope is not Scope.CHECKPOINT:
        raise BadResume("a policy says what of an earlier attempt counts, and there was none")
    if plan.policy.is_selective and not plan.is_same_script(recorded):
        raise BadResume(
            "the script or its arguments were changed, so single agents cannot be chosen",
            hint="resume without choosing: calls that did not change are taken from the record",
        )


def run_to_end(engine: Engine) -> RunDone:
    """Carry a run out in an event loop of its own."""
    return asyncio.run(engine.run())
