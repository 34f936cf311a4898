"""Run a command as an act: the policy judges it, then it runs in its sandbox and is recorded.

The draft of the run's step is made before the command starts, and completed after it ended.
"""

import os
from collections.abc import Sequence
from functools import partial

from siding.agents.table import BY_PROGRAM
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, Ending, Outcome, StreamPlan
from siding.ground.process.output.files import settle_output
from siding.guard.enforcement import run_judged_hook, with_hooks
from siding.guard.hooks import HookResult, hooks_for
from siding.guard.ruling import Asker
from siding.record.acts.skeleton import Act, Done, Ended, Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.reports import IsolationReport, OutputReport, ProcessReport, as_left
from siding.record.ledger.run_details import BASE, RunDetail
from siding.record.ledger.step import StepStatus
from siding.record.place.event_log import StepStarted
from siding.record.place.locks import Hold
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.recording.recorder import Recorder
from siding.record.runs.run import LONGEST_PROMPT, Run
from siding.running.command import OnRunning, RunningCommand, begin_run
from siding.running.held import AskSeen
from siding.running.isolation import Watch
from siding.running.plan import RunPlan, plan_run
from siding.running.request import RunRequest, RunResult, Terminal
from siding.sandbox.sandbox import REFUSED_EXIT, SandboxPlan

HOOK_FAILED_EXIT = 1


class Cancelled(SidingError):
    """The end of a run was asked for before its command was started."""

    code = "cancelled"


class RunOutcome(NamedTuple):
    """How the command ended, None if it was not started; and the hooks around it."""

    outcome: Outcome | None = None
    hooks: tuple[HookResult, ...] = ()
    untrusted_hooks: int = 0


class RunAct(Act[RunPlan, RunOutcome, RunResult]):
    """Run a command in the workspace. Others may work in the task while it runs."""

    keeps_hold = False

    def __init__(
        self,
        project: Project,
        request: RunRequest,
        terminal: Terminal,
        ask: Asker | None,
        *,
        on_running: OnRunning | None = None,
        ask_seen: AskSeen | None = None,
    ) -> None:
        self.redaction = project.redaction.knowing(request.env)
        self.what = what_runs(self.redaction, request)
        self.wait = request.wait
        self.beside_runs = not request.wait
        self.token = project.app.random_bytes(16).hex()
        self._request = request
        self._terminal = terminal
        self._ask = ask
        self._on_running = on_running
        self._ask_seen = ask_seen
        self._running: RunningCommand | None = None

    def plan(self, work: Work) -> RunPlan:
        planned = plan_run(work, self._request, self._ask, self._ask_seen)
        requests = self._terminal.requests
        if requests is not None and requests.is_stopped:
            raise Cancelled("the run was cancelled before its command was started")
        return planned

    def draft(self, work: Work, plan: RunPlan) -> Draft:
        # The draft has the verdict already, so a blocked run is recorded even if Siding is killed.
        draft = plan.ruling.on(draft_of(work.recorder, self._request, plan.command, plan.sandbox))
        if not plan.starts:
            return draft
        # The run counts as living before the lock is released for the first time.
        self._running = begin_run(work, plan, self._request, self._terminal, draft, self.token)
        return _as_run_of(draft, self._running.run)

    def carry_out(self, work: Work, plan: RunPlan, intent: Intent) -> Ended[RunOutcome]:
        recorder, running = work.recorder, self._running
        if running is None:
            return Ended(intent, refused(intent.draft, plan.sandbox), RunOutcome())
        watch = Watch(recorder, recorder.intents.path(intent), plan.sandbox.launch)
        before = _run_hooks(recorder, "pre_run", running.command)
        if any(hook.exit_code != 0 for hook in before.hooks):
            draft = stopped_by_hook(intent.draft, before.hooks)
            return Ended(intent, with_hooks(draft, before.hooks), before)
        work.project.events.emit(StepStarted(work.task, recorder.workspace, intent))
        outcome = running.carry_out(intent, self._on_running)
        watch.ended(outcome.duration_ms)
        draft = running.with_reports(intent, ended(intent.draft, outcome, self._terminal))
        intent = recorder.ended(intent, draft)
        after = _run_hooks(recorder, "post_run", running.command)
        hooks = (*before.hooks, *after.hooks)
        done = RunOutcome(outcome, hooks, before.untrusted_hooks + after.untrusted_hooks)
        later = partial(_with_what_came_later, recorder, watch, running.run)
        return Ended(intent, with_hooks(intent.draft, hooks), done, later=later)

    def result(self, work: Work, plan: RunPlan, done: Done[RunOutcome] | None) -> RunResult:
        assert done is not None
        if self._running is not None:
            self._running.end()
        outcome, step = done.outcome.outcome, done.step
        exit_code = HOOK_FAILED_EXIT if plan.starts else plan.exit_code
        if outcome is not None:
            exit_code = outcome.exit_code
            output = work.recorder.layout.artifact(step.number, "output")
            settle_output(output, outcome.stdout_bytes)
        return RunResult(
            task=work.task,
            step=step,
            exit_code=exit_code,
            outcome=outcome,
            settled=work.settled,
            hooks=done.outcome.hooks,
            untrusted_hooks=done.outcome.untrusted_hooks,
            ruling=plan.ruling,
            sandbox=plan.sandbox,
            isolation=IsolationReport(),
        )


def run_unrecorded(
    work: Work,
    hold: Hold,
    request: RunRequest,
    terminal: Terminal,
    ask: Asker | None,
    *,
    on_running: OnRunning | None = None,
    ask_seen: AskSeen | None = None,
) -> RunResult:
    """Run the command without recording a step (``--no-record``).

    The next step records what it changed as changes made outside Siding.
    """
    recorder = work.recorder
    plan = plan_run(work, request, ask, ask_seen)
    outcome, isolation, exit_code = None, IsolationReport(), plan.exit_code
    if plan.starts:
        draft = draft_of(recorder, request, plan.command, plan.sandbox)
        token = work.project.app.random_bytes(16).hex()
        running = begin_run(work, plan, request, terminal, draft, token)
        with hold.let_go():
            watch = Watch(recorder, launch=plan.sandbox.launch)
            outcome = running.carry_out(None, on_running)
            watch.ended(outcome.duration_ms)
        exit_code, isolation = outcome.exit_code, watch.isolation()
        running.end()
    return RunResult(
        task=work.task,
        step=None,
        exit_code=exit_code,
        outcome=outcome,
        settled=(),
        hooks=(),
        untrusted_hooks=0,
        ruling=plan.ruling,
        sandbox=plan.sandbox,
        isolation=isolation,
    )


def what_runs(redaction: Redaction, request: RunRequest) -> str:
    """Return the command, without secrets, as the message of a busy task shows it."""
    return " ".join(redaction.words(request.argv))[:200]


def _as_run_of(draft: Draft, run: Run) -> Draft:
    """Return the draft of a run's step with the id of the run."""
    assert isinstance(draft.detail, RunDetail)
    return draft._replace(detail=draft.detail._replace(run=run.id, name=run.name))


def _with_what_came_later(recorder: Recorder, watch: Watch, run: Run, draft: Draft) -> Draft:
    """Return the draft with the result of the watch, and where the run began if steps followed."""
    assert isinstance(draft.detail, RunDetail)
    newest = recorder.ledger.last()
    since = (run.since or BASE) if newest is not None and newest.id != run.since else ""
    return draft._replace(detail=draft.detail._replace(isolation=watch.isolation(), since=since))


def _run_hooks(recorder: Recorder, moment: str, command: Command) -> RunOutcome:
    """Run the hooks of a moment (``pre_run``, ``post_run``). The first failing ``pre_run`` hook
    ends it."""
    hooks, untrusted = hooks_for(recorder.project, moment)
    results: list[HookResult] = []
    for hook in hooks:
        results.append(run_judged_hook(recorder.project, hook, root=recorder.root, env=command.env))
        if moment == "pre_run" and results[-1].exit_code != 0:
            break
    return RunOutcome(hooks=tuple(results), untrusted_hooks=untrusted)


def draft_of(
    recorder: Recorder, request: RunRequest, command: Command, sandbox: SandboxPlan
) -> Draft:
    """Return the draft of the run with what is known before it starts."""
    agent = BY_PROGRAM.get(os.path.basename(request.argv[0]))
    limits = {name: most for name, most in sandbox.limits._asdict().items() if most is not None}
    return Draft(
        agent=None if agent is None else agent.name,
        detail=RunDetail(
            cmd=tuple(recorder.redaction.words(request.argv)),
            cwd=os.path.relpath(command.cwd, recorder.root),
            env=recorder.redaction.environment(request.env),
            timeout_s=sandbox.time_s,
            sandbox=sandbox.report,
            limits=limits,
            retries=request.retries.step if request.retries else "",
            returns=request.retries.before if request.retries else None,
            prompt=recorder.redaction.text(request.prompt[:LONGEST_PROMPT]),
        ),
    )


def ended(draft: Draft, outcome: Outcome, terminal: Terminal) -> Draft:
    """Return the draft completed with how the command ended."""
    status = {
        Ending.TIMEOUT: StepStatus.TIMEOUT,
        Ending.INTERRUPTED: StepStatus.INTERRUPTED,
        Ending.STOPPED: StepStatus.INTERRUPTED,
    }.get(outcome.ending)
    if status is None:
        status = StepStatus.COMPLETED if outcome.exit_code == 0 else StepStatus.FAILED
    assert isinstance(draft.detail, RunDetail)
    child = outcome.child_exit_code
    detail = draft.detail._replace(
        ending=outcome.ending.value,
        child_exit_code=child if child != outcome.exit_code else None,
        output=OutputReport(
            streams=(StreamPlan.PTY if terminal.pty else StreamPlan.PIPED).value,
            stdout_bytes=outcome.stdout_bytes,
            stderr_bytes=outcome.stderr_bytes,
            sha256=outcome.output_sha256,
            complete=outcome.output_complete,
            rows=outcome.size.rows if outcome.size else 0,
            columns=outcome.size.columns if outcome.size else 0,
        ),
        notes=tuple(outcome.notes),
        processes=ProcessReport(
            ended=as_left(outcome.ended_by_us),
            survivors=as_left(outcome.survivors),
            left_running=as_left(outcome.left_running),
        ),
    )
    return draft._replace(
        detail=detail,
        status=status.value,
        exit_code=outcome.exit_code,
        duration_ms=outcome.duration_ms,
        reason=outcome.reason or "",
    )


def stopped_by_hook(draft: Draft, hooks: Sequence[HookResult]) -> Draft:
    """Return the draft of a run whose command was not started because a ``pre_run`` hook failed."""
    failed = next(hook for hook in hooks if hook.exit_code != 0)
    return draft._replace(
        status=StepStatus.BLOCKED.value,
        exit_code=HOOK_FAILED_EXIT,
        reason=f"pre_run hook {failed.command!r} ended with {failed.exit_code}",
    )


def refused(draft: Draft, sandbox: SandboxPlan) -> Draft:
    """Return the draft as blocked if the run must have a sandbox and none works, else unchanged."""
    if not sandbox.refusal:
        return draft
    return draft._replace(
        status=StepStatus.BLOCKED.value, exit_code=REFUSED_EXIT, reason=sandbox.refusal
    )
