"""Run a command as an act: the policy judges it, then it runs in its sandbox and is recorded."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from siding.adapters.agents.table import draws_no_screen
from siding.app.acts.skeleton import Act, Done, Ended, Work
from siding.app.place.environment import environment_in
from siding.app.place.locks import Hold
from siding.app.place.project import Project
from siding.app.place.redaction import Redaction
from siding.app.place.step_events import StepStarted
from siding.app.policy.enforcement import rule_on, run_judged_hook, with_hooks
from siding.app.policy.hooks import HookResult, hooks_for
from siding.app.policy.ruling import POLICY_EXIT, Asker, Ruling, RunToJudge
from siding.app.recording.opening import has_link
from siding.app.recording.recorder import Recorder
from siding.app.running.agents import (
    begin_report,
    end_turn,
    noted,
    reporting_of,
    terms_of,
    told,
    with_report,
)
from siding.app.running.background_gc import background_gc
from siding.app.running.broker import (
    OpensDoor,
    door_of,
    place_of_broker,
    with_requests,
)
from siding.app.running.drafts import HOOK_FAILED_EXIT, draft_of, ended, refused, stopped_by_hook
from siding.app.running.held import AskSeen, rule_on_traps
from siding.app.running.isolation import Watch
from siding.app.running.living import as_run_of, begin_run, marked, port_for
from siding.app.running.request import Reporting, RunRequest, RunResult, Terminal
from siding.app.running.turns import Turns, turn_times
from siding.app.running.wire import wire_plan_of, wired, with_wire
from siding.app.sandbox.sandbox import (
    REFUSED_EXIT,
    SandboxPlan,
    open_sandbox,
    plan_sandbox,
    take_over_result,
)
from siding.errors import SidingError, UsageError
from siding.ledger.details.run import BASE, RunDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.reports import IsolationReport
from siding.namedtuples import NamedTuple
from siding.process.broker.place import SOCKET_VARIABLE
from siding.process.command import Command, Outcome, OutputScreen, ProcessInfo, StreamPlan
from siding.process.control.control import Control
from siding.process.drive import Beside
from siding.process.identity import started_of
from siding.process.keeper.child import Child, Survival
from siding.process.keeper.forking import can_keep
from siding.process.looks import Looks
from siding.process.output.files import settle_output
from siding.process.output.recording import OutputFiles
from siding.process.record import run_recorded
from siding.process.side import Plan, RunSandbox
from siding.process.tree import ProcessTree
from siding.runs.left_paused import PauseOfTask
from siding.runs.run import ProcessMark, Run
from siding.runs.store import LiveRun
from siding.storage.layout import TaskLayout
from siding.tasks.task import Task

if TYPE_CHECKING:
    from siding.app.wire.planned import WirePlan

NOTHING_KEPT = "in this sandbox nothing outlives the command, so nothing of it is kept"
OnRunning = Callable[[Task, Run], None]  # called when the command of a run was started


class Cancelled(SidingError):
    """The end of a run was asked for before its command was started."""

    code = "cancelled"


class RunPlan(NamedTuple):
    """The command, the policy's ruling on it, and its sandbox."""

    command: Command
    ruling: Ruling
    sandbox: SandboxPlan
    broker: str  # the path of its socket; "" if there can be none
    reports: Reporting | None  # how its agent reports; None if it does not
    wire: "WirePlan | None"  # what goes through a proxy; None for nothing

    @property
    def starts(self) -> bool:
        """Whether the command is started at all."""
        return self.ruling.runs and not self.sandbox.refusal

    @property
    def exit_code(self) -> int:
        """The exit code of `siding run` if the command is not started."""
        return REFUSED_EXIT if self.sandbox.refusal else POLICY_EXIT


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
        self._live: LiveRun | None = None

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
        self._live = begin_run(
            work,
            draft,
            token=self.token,
            name=self._request.name,
            in_program=self._terminal.requests is not None,
            broker=plan.broker,
            terms=terms_of(work.project, self._request, plan.reports),
        )
        return as_run_of(draft, self._live.run)

    def carry_out(self, work: Work, plan: RunPlan, intent: Intent) -> Ended[RunOutcome]:
        recorder = work.recorder
        if self._live is None:
            return Ended(intent, refused(intent.draft, plan.sandbox), RunOutcome())
        command = told(marked(plan.command, self._live.run), plan.reports)
        begin_report(recorder.layout, self._live.run, plan.reports)
        watch = Watch(recorder, recorder.intents.path(intent), plan.sandbox.launch)
        before = _run_hooks(recorder, "pre_run", command)
        if any(hook.exit_code != 0 for hook in before.hooks):
            draft = stopped_by_hook(intent.draft, before.hooks)
            return Ended(intent, with_hooks(draft, before.hooks), before)
        work.project.events.emit(StepStarted(work.task, recorder.workspace, intent))
        times = turn_times(work.project.settings, self._request)
        turns = Turns(work.project, work.task.id, self._live.run, times)
        with turns.told(), wired(work, plan.wire, plan.sandbox, command, self._live.run) as wire:
            outcome = execute(
                recorder,
                wire.command,
                self._terminal,
                wire.sandbox,
                beside=wire.beside,
                live=self._live,
                artifact=recorder.layout.artifact(intent.stem, "output"),
                door=door_of(
                    work.project,
                    work.task.id,
                    self._live.run,
                    intent.stem,
                    _screen(self._terminal, self._request),
                ),
                on_running=self._on_running,
                looks=[*([turns.watch] if times.any else []), *background_gc(work.project)],
                leave=self._request.leave,
                locks=(recorder.intents.descriptor(intent), *wire.locks)
                if self._request.survives
                else None,
            )
        outcome = wire.noted(turns.noted(noted(outcome, plan.reports)))
        end_turn(work.project, work.task.id, self._live.run)
        watch.ended(outcome.duration_ms)
        draft = with_requests(recorder, intent, ended(intent.draft, outcome, self._terminal))
        draft = with_report(work.project.app, recorder.layout, self._live.run, draft, plan.reports)
        draft = with_wire(work, self._live.run, draft, wire, plan.wire)
        intent = recorder.ended(intent, draft)
        after = _run_hooks(recorder, "post_run", command)
        hooks = (*before.hooks, *after.hooks)
        done = RunOutcome(outcome, hooks, before.untrusted_hooks + after.untrusted_hooks)
        later = partial(_with_what_came_later, recorder, watch, self._live.run)
        return Ended(intent, with_hooks(intent.draft, hooks), done, later=later)

    def result(self, work: Work, plan: RunPlan, done: Done[RunOutcome] | None) -> RunResult:
        assert done is not None
        if self._live is not None:
            self._live.end()
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
        token = work.project.app.random_bytes(16).hex()
        draft = draft_of(recorder, request, plan.command, plan.sandbox)
        live = begin_run(
            work,
            draft,
            token=token,
            name=request.name,
            is_recorded=False,
            in_program=terminal.requests is not None,
            broker=plan.broker,
            terms=terms_of(work.project, request, plan.reports),
        )
        command = told(marked(plan.command, live.run), plan.reports)
        with hold.let_go(), wired(work, plan.wire, plan.sandbox, command, live.run) as wire:
            watch = Watch(recorder, launch=plan.sandbox.launch)
            outcome = execute(
                recorder,
                wire.command,
                terminal,
                wire.sandbox,
                beside=wire.beside,
                live=live,
                artifact=None,
                door=door_of(work.project, work.task.id, live.run, "", _screen(terminal, request)),
                on_running=on_running,
                leave=request.leave,
                locks=wire.locks if request.survives else None,
            )
            watch.ended(outcome.duration_ms)
        outcome = wire.noted(outcome)
        exit_code, isolation = outcome.exit_code, watch.isolation()
        live.end()
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


def _screen(terminal: Terminal, request: RunRequest) -> int | None:
    """Return where lines can be said while the command runs; None if it draws on the screen."""
    draws = terminal.pty and not draws_no_screen(request.argv)
    return None if draws else terminal.err


def what_runs(redaction: Redaction, request: RunRequest) -> str:
    """Return the command, without secrets, as the message of a busy task shows it."""
    return " ".join(redaction.words(request.argv))[:200]


def plan_run(
    work: Work, request: RunRequest, ask: Asker | None, ask_seen: AskSeen | None
) -> RunPlan:
    """Judge the command and plan its sandbox.

    `ask` puts the policy's questions to a person, `ask_seen` shows traps to one.
    """
    recorder, project = work.recorder, work.project
    if not has_link(project, recorder.workspace):
        from siding.app.unfinished.broken_link import require_link

        require_link(project, recorder.task, recorder.workspace)
    cwd = request.view or _directory(project, recorder, request.cwd)
    task, workspace = recorder.task, recorder.workspace
    port = port_for(project, task.id)
    if request.view is not None:
        workspace = workspace._replace(path=str(request.view))
    env = environment_in(project, task, workspace, request.env, cwd=cwd, port=port)
    broker = place_of_broker(work)
    if broker:
        env[SOCKET_VARIABLE] = broker
    command = Command(argv=request.argv, cwd=cwd, env=env)
    ruling = rule_on(project, _to_judge(recorder, request, command), allow=request.allow, ask=ask)
    sandbox = SandboxPlan()
    if ruling.runs:
        sandbox = plan_sandbox(
            recorder,
            request.sandbox,
            command,
            agent=request.agent,
            time_s=request.timeout_s,
            reads_only=request.view is not None,
        )
        work.resources.callback(sandbox.release)
        ruling = rule_on_traps(work, ruling, sandbox, ask_seen)
    reports, wire = None, None
    if ruling.runs:
        reports = reporting_of(work, request, command, sandbox)
        wire = wire_plan_of(work, request, sandbox)
    return RunPlan(command, ruling, sandbox, broker, reports, wire)


def _to_judge(recorder: Recorder, request: RunRequest, command: Command) -> RunToJudge:
    return RunToJudge(
        argv=request.argv,
        cwd=command.cwd,
        workspace=request.view or recorder.root,
        env=command.env,
        added=request.env,
        task_id=recorder.task.id,
    )


def execute(  # noqa: PLR0913 - everything about the command's life comes together
    recorder: Recorder,
    command: Command,
    terminal: Terminal,
    sandbox: SandboxPlan,
    *,
    live: LiveRun,
    artifact: Path | None,
    door: OpensDoor,
    on_running: OnRunning | None,
    looks: Sequence[Callable[[ProcessTree], Looks]] = (),
    beside: Sequence[Beside] = (),
    leave: str = "",
    locks: tuple[int, ...] | None = None,
) -> Outcome:
    """Run the command in its sandbox and within its limits; return how it ended.

    Its output is also written to the file `artifact`, if that is not None. `on_running` is called
    when the command was started. `looks` look at it while it runs, `beside` is served then. At the
    `door` its processes reach their broker. `leave` says whether what the command leaves is kept or
    ended; "": as set. What is kept is written down. With `locks` the run survives this process, and
    holds them until its end.
    """

    def on_started(child: Child) -> None:
        live.started(_mark(child.pid), _mark(child.keeper))
        if on_running is not None:
            on_running(recorder.task, live.run)

    streams = StreamPlan.PTY if terminal.pty else StreamPlan.PIPED
    with open_sandbox(recorder, sandbox) as run_sandbox, _surviving(live, locks) as survival:
        planned = Plan(
            command,
            recorder=OutputFiles(artifact, streams=streams, filtered=recorder.redaction.filter),
            screen=OutputScreen(stdout=terminal.out, stderr=terminal.err),
            stdin=terminal.stdin,
            timeout_s=sandbox.time_s,
            token=live.run.token,
            on_started=on_started,
            sandbox=run_sandbox,
            control=Control(live.socket, at_once=terminal.out is None),
            requests=terminal.requests,
            door=door,
            pause=PauseOfTask(recorder.layout, first=partial(_follow_in_sandbox, recorder.layout)),
            looks=looks,
            beside=beside,
            survival=survival,
            ends_left=(leave or recorder.project.settings.leave) == "end",
        )
        outcome = run_recorded(planned)
    if outcome.left_running:
        _write_down_left(recorder, live.run, outcome.left_running)
    elif leave == "keep" and _ends_with_command(run_sandbox):
        outcome = outcome._replace(notes=(*outcome.notes, NOTHING_KEPT))
    return take_over_result(recorder, sandbox, outcome)


@contextmanager
def _surviving(live: LiveRun, locks: tuple[int, ...] | None) -> Iterator[Survival | None]:
    """Yield what the keeper of a run holds that survives its host; None for any other run."""
    if locks is None:
        yield None
        return
    if not can_keep():
        raise UsageError(
            "a run cannot survive its host here: this system has no pidfds or no subreapers",
            hint="leave --survive out",
        )
    survival = live.survival()
    try:
        yield survival._replace(locks=(*survival.locks, *locks))
    finally:
        os.close(survival.fate)


def _write_down_left(recorder: Recorder, run: Run, left: tuple[ProcessInfo, ...]) -> None:
    from siding.app.unfinished.left_running import write_down_left

    write_down_left(recorder.project, recorder.layout, run, left, recorder.redaction)


def _follow_in_sandbox(layout: TaskLayout) -> None:
    """Bring the copy of the git directory in a sandbox to where a killed act led."""
    from siding.app.unfinished.sandbox_commits import follow_in_sandbox

    follow_in_sandbox(layout)


def _ends_with_command(sandbox: RunSandbox | None) -> bool:
    """Tell whether nothing in the sandbox outlives the command: the kernel ends it."""
    return sandbox is not None and sandbox.sandboxed is not None and sandbox.sandboxed.guarded


def _with_what_came_later(recorder: Recorder, watch: Watch, run: Run, draft: Draft) -> Draft:
    """Return the draft with the result of the watch, and where the run began if steps followed."""
    assert isinstance(draft.detail, RunDetail)
    newest = recorder.ledger.last()
    since = (run.since or BASE) if newest is not None and newest.id != run.since else ""
    return draft._replace(detail=draft.detail._replace(isolation=watch.isolation(), since=since))


def _mark(pid: int) -> ProcessMark:
    return ProcessMark(pid, started_of(pid)) if pid else ProcessMark()


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


def _directory(project: Project, recorder: Recorder, wanted: str | None) -> Path:
    """Return the directory the command runs in: `wanted`, or the caller's own, in the workspace."""
    if wanted is not None:
        chosen = (recorder.root / wanted).resolve()
        if not chosen.is_relative_to(recorder.root.resolve()):
            raise UsageError(f"--cwd {wanted!r} leaves the workspace")
        if not chosen.is_dir():
            raise UsageError(f"--cwd {wanted!r} is not a directory of the workspace")
        return chosen
    here = project.app.cwd.resolve()
    checkout = project.checkout
    roots = [recorder.root] if checkout is None else [recorder.root, checkout.root]
    for root in (each.resolve() for each in roots):
        if here.is_relative_to(root):
            same = recorder.root / here.relative_to(root)
            if same.is_dir():
                return same
    return recorder.root
