"""Run a workflow: from its script and its journal to how it ended."""

from siding.workflows.engine.attempt import GONE, ScriptAttempt
from siding.workflows.engine.plan import Policy, Ports, RunPlan, Scope, without_edited
from siding.workflows.engine.ports import Control
from siding.workflows.errors import RERUN_LOST, BadResume, DamagedJournal
from siding.workflows.events import Logged, RunDone, RunStarted
from siding.workflows.journal import JournalWriter, Recorded, read_journal
from siding.workflows.journal_lines import AttemptLine

_SHOWN = 3  # names in a message


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
        recorded = self._read()
        _refuse_missing(self._plan, recorded)
        _refuse_selection(self._plan, recorded)
        with JournalWriter(self._plan.journal) as writer:
            if recorded.has_torn_line:  # it is closed now; if only its end was missing, it counts
                recorded = self._read()
            writer.begin_behind(recorded)
            self._ports.emit(
                RunStarted(
                    name=self._plan.shown_name,
                    meta=self._plan.script.meta.as_record() if self._plan.script.meta else None,
                    resumed=bool(recorded.attempts),
                )
            )
            if recorded.has_torn_line:
                self._warn("a line of the journal was torn: that call is made again")
            elif self._plan.accepts_losses and recorded.lost:
                self._warn("what is missing in the journal is made again")
            done = await self._attempts(recorded, writer)
        self._ports.emit(done)
        return done

    def _read(self) -> Recorded:
        return read_journal(self._plan.journal, accepts_losses=self._plan.accepts_losses)

    async def _attempts(self, recorded: Recorded, writer: JournalWriter) -> RunDone:
        """Run the script; once more if its process died, which is no mistake in the script.

        A script that raised would do so again: it gets the same answers.
        """
        done = await self._once(self._plan, recorded, writer)
        if done.kind != GONE or not self._plan.retries_script:
            return done
        self._warn(f"the script's process runs once more from its record: {done.error}")
        plan = self._plan._replace(policy=Policy(), keeps_dead=True)
        return await self._once(plan, self._read(), writer)

    async def _once(self, plan: RunPlan, recorded: Recorded, writer: JournalWriter) -> RunDone:
        if self._is_stopped:
            return RunDone(status="killed")
        line = AttemptLine(
            number=len(recorded.attempts) + 1,
            at=self._ports.stamp(),
            script=plan.script_hash,
            args=plan.args_hash,
            policy={} if plan.policy.scope is Scope.CHECKPOINT else plan.policy.as_message(),
            lost=recorded.lost,
            unreadable=recorded.unreadable,
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


def _refuse_missing(plan: RunPlan, recorded: Recorded) -> None:
    """Raise DamagedJournal if a call was seen to be answered that the journal has no answer of."""
    if plan.accepts_losses or not recorded.last_number:
        return  # older versions showed an answer before it was on disk
    known = {*recorded.answers, *recorded.dropped}
    lost = [name for path, name in plan.answered if path not in known]
    if lost:
        names = ", ".join(lost[:_SHOWN]) + (" …" if len(lost) > _SHOWN else "")
        raise DamagedJournal(
            f"the end of the journal is missing: it has no answer of {names}, and there was one",
            hint=RERUN_LOST,
        )


def _refuse_selection(plan: RunPlan, recorded: Recorded) -> None:
    if not recorded.attempts and plan.policy.scope is not Scope.CHECKPOINT:
        raise BadResume("a policy says what of an earlier attempt counts, and there was none")
    if plan.policy.is_selective and not plan.is_same_script(recorded):
        raise BadResume(
            "the script or its arguments were changed, so single agents cannot be chosen",
            hint="resume without choosing: calls that did not change are taken from the record",
        )
