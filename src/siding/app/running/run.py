"""Run a command in a task's workspace and record it as a step."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from siding.adapters.agents.table import BY_PROGRAM
from siding.app.life.recovery import recover_cut_off
from siding.app.place.environment import environment_in
from siding.app.place.events import StepStarted
from siding.app.place.locking import holding_task
from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.app.policy.guarding import rule_on, run_judged_hook, with_hooks
from siding.app.policy.hooks import HookResult, hooks_for
from siding.app.policy.ruling import POLICY_EXIT, Asker, Ruling, RunToJudge
from siding.app.recording.opening import open_recorder
from siding.app.recording.recorder import Recorder
from siding.app.running.isolation import Watch
from siding.app.sandbox.sandbox import (
    REFUSED_EXIT,
    SandboxPlan,
    SandboxRequest,
    open_sandbox,
    plan_sandbox,
    take_over_result,
)
from siding.app.unfinished.left import as_left
from siding.app.waiting.notifier import Notifier
from siding.errors import NoActiveTask, UsageError
from siding.ids import step_id
from siding.ledger.details.run import RunDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.reports import IsolationReport, OutputReport, ProcessReport
from siding.ledger.step import Step, StepStatus
from siding.process.command import Command, Ending, Outcome, Screen, StdinPlan, StreamPlan
from siding.process.output import OutputFiles
from siding.process.output_files import settle_output
from siding.process.record import run_recorded
from siding.process.stdin import stdin_plan
from siding.tasks.names import name_after_command
from siding.tasks.states import TaskState
from siding.tasks.task import Task

if TYPE_CHECKING:
    from siding.app.life.start import Started

HOOK_FAILED_EXIT = 1
__all__ = [
    "Ending",
    "RunRequest",
    "RunResult",
    "StdinPlan",
    "Terminal",
    "choose_stdin",
    "run",
]


class RunRequest(NamedTuple):
    """What one ``siding run`` asks for."""

    argv: tuple[str, ...]
    task: str | None = None
    timeout_s: float | None = None
    env: Mapping[str, str] = {}
    cwd: str | None = None  # relative to the workspace; None: where the caller stands
    record: bool = True
    wait: bool = False
    allow: tuple[str, ...] = ()  # rules whose questions are answered with yes
    sandbox: SandboxRequest = SandboxRequest()  # sandbox, network and limits


class Terminal(NamedTuple):
    """What of the caller's terminal the command gets."""

    stdin: StdinPlan
    pty: bool
    out: int  # where the command's output goes as well; file descriptors
    err: int


class RunResult(NamedTuple):
    """How a run ended."""

    task: Task
    step: Step | None  # None with ``--no-record``
    exit_code: int  # what ``siding run`` exits with
    outcome: Outcome | None  # None when a hook stopped the run
    settled: tuple[Step, ...]  # steps recorded first: cut off, or made outside Siding
    hooks: tuple[HookResult, ...]
    untrusted_hooks: int
    ruling: Ruling  # what the policy said
    sandbox: SandboxPlan = SandboxPlan()  # the sandbox and limits it had
    isolation: IsolationReport = IsolationReport()  # what changed outside, of a run without a step


def run(
    project: Project,
    request: RunRequest,
    terminal: Terminal,
    *,
    on_started: Callable[["Started"], None] | None = None,
    ask: Asker | None = None,
) -> RunResult:
    """Run the command; return when it, and with a timeout or Ctrl-C everything it started, ended.

    Write-ahead: the snapshot before, and the intent, are on disk before the process starts. Raises
    TaskBusy, NoWorkspace, UsageError; what the command does is in the result. `on_started` is told
    about a task that had to be started first; `ask` puts the policy's questions to a person.
    """
    recover_cut_off(project)
    task, started = _task_for(project, request)
    if started is not None and on_started is not None:
        on_started(started)
    with Notifier(project) as notifier:
        result = _run_in(project, task, request, terminal, ask)
    if not terminal.pty:  # nobody looks at a terminal: a person is told
        notifier.deliver()
    return result


def _run_in(
    project: Project, task: Task, request: RunRequest, terminal: Terminal, ask: Asker | None
) -> RunResult:
    redaction = project.redaction.knowing(request.env)
    what = " ".join(redaction.words(request.argv))[:200]
    with holding_task(project, task.id, what, wait=request.wait) as hold:
        recorder = open_recorder(project, task, hold)
        recorder.redaction = redaction
        cwd = _directory(project, recorder, request.cwd)
        command = Command(
            argv=request.argv,
            cwd=cwd,
            env=environment_in(project, task, recorder.workspace, request.env, cwd=cwd),
        )
        settled = recorder.settle() if request.record else []
        ruling = rule_on(
            project, _to_judge(recorder, request, command), allow=request.allow, ask=ask
        )
        sandbox = SandboxPlan()
        if ruling.runs:
            sandbox = plan_sandbox(recorder, request.sandbox, command, time_s=request.timeout_s)
        if request.record:
            result = _recorded(recorder, request, command, terminal, ruling, sandbox)
        else:
            result = _unrecorded(recorder, command, terminal, ruling, sandbox)
    return result._replace(
        task=task,
        settled=tuple(settled),
        ruling=ruling,
        sandbox=sandbox,
    )


def choose_stdin(explicit: bool | None) -> tuple[StdinPlan, bool]:
    """Return what the command gets as standard input, and whether a pipe was withheld."""
    choice = stdin_plan(0, explicit=explicit)
    return choice.plan, choice.ignored_pipe


def _task_for(project: Project, request: RunRequest) -> tuple[Task, "Started | None"]:
    """Return the task to work in, started and named after the command when there is none."""
    try:
        task = select(project, request.task)
    except NoActiveTask:
        from siding.app.life.start import start_task

        started = start_task(project, name=_name_for(project, request), base=None)
        return started.task, started
    if task.status is TaskState.CLOSED:
        raise UsageError(
            f"task {task.name!r} is closed", hint="start a new one with `siding task start NAME`"
        )
    return task, None


def _name_for(project: Project, request: RunRequest) -> str:
    return name_after_command(project.redaction.knowing(request.env).words(request.argv))


def _to_judge(recorder: Recorder, request: RunRequest, command: Command) -> RunToJudge:
    return RunToJudge(
        argv=request.argv,
        cwd=command.cwd,
        workspace=recorder.root,
        env=command.env,
        added=request.env,
        task_id=recorder.task.id,
    )


def _recorded(
    recorder: Recorder,
    request: RunRequest,
    command: Command,
    terminal: Terminal,
    ruling: Ruling,
    sandbox: SandboxPlan,
) -> RunResult:
    project = recorder.project
    token = project.app.random_bytes(16).hex()
    # With the verdict: a blocked attempt is recorded as one even if Siding dies now.
    intent = recorder.begin(ruling.on(_draft(recorder, request, command, sandbox)), token=token)
    if not ruling.runs or sandbox.refusal:
        told = _refused(intent.draft, sandbox)
        return _not_run(recorder, ruling, recorder.finish(intent, told), sandbox)
    env = {**command.env, "SIDING_STEP_ID": step_id(intent.number), "SIDING_STEP_TOKEN": token}
    command = command._replace(env=env)
    watch = Watch(recorder, recorder.intents.path(intent))
    hooks, untrusted = _hooks(recorder, "pre_run", command)
    outcome = None
    if any(hook.exit_code != 0 for hook in hooks):
        draft = _stopped_by_hook(intent.draft, hooks)
    else:
        _announce(recorder, intent)
        artifact = recorder.layout.artifact(intent.stem, "output")
        outcome = _execute(recorder, command, terminal, sandbox, token=token, artifact=artifact)
        watch.ended(outcome.duration_ms)
        intent = recorder.ended(intent, _ended(intent.draft, outcome, terminal))
        after, more_untrusted = _hooks(recorder, "post_run", command)
        hooks, untrusted = [*hooks, *after], untrusted + more_untrusted
        draft = intent.draft
    later = None if outcome is None else partial(_with_isolation, watch)
    step = recorder.finish(intent, with_hooks(draft, hooks), later=later)
    if outcome is not None:
        settle_output(recorder.layout.artifact(step.number, "output"), outcome.stdout_bytes)
    return RunResult(
        task=recorder.task,
        step=step,
        exit_code=_exit_code(outcome),
        outcome=outcome,
        settled=(),
        hooks=tuple(hooks),
        untrusted_hooks=untrusted,
        ruling=ruling,
    )


def _not_run(
    recorder: Recorder, ruling: Ruling, step: Step | None, sandbox: SandboxPlan
) -> RunResult:
    exit_code = REFUSED_EXIT if sandbox.refusal else POLICY_EXIT
    return RunResult(
        task=recorder.task,
        step=step,
        exit_code=exit_code,
        outcome=None,
        settled=(),
        hooks=(),
        untrusted_hooks=0,
        ruling=ruling,
    )


def _refused(draft: Draft, sandbox: SandboxPlan) -> Draft:
    """Return the draft of a run that has no sandbox and must have one."""
    if not sandbox.refusal:
        return draft
    return draft._replace(
        status=StepStatus.BLOCKED.value, exit_code=REFUSED_EXIT, reason=sandbox.refusal
    )


def _with_isolation(watch: Watch, draft: Draft) -> Draft:
    assert isinstance(draft.detail, RunDetail)
    return draft._replace(detail=draft.detail._replace(isolation=watch.isolation()))


def _unrecorded(
    recorder: Recorder,
    command: Command,
    terminal: Terminal,
    ruling: Ruling,
    sandbox: SandboxPlan,
) -> RunResult:
    """Run without a step. What it changes is found, as changes from outside, by the next one."""
    if not ruling.runs or sandbox.refusal:
        return _not_run(recorder, ruling, None, sandbox)
    token = recorder.project.app.random_bytes(16).hex()
    watch = Watch(recorder)
    outcome = _execute(recorder, command, terminal, sandbox, token=token, artifact=None)
    watch.ended(outcome.duration_ms)
    return RunResult(
        task=recorder.task,
        step=None,
        exit_code=outcome.exit_code,
        outcome=outcome,
        settled=(),
        hooks=(),
        untrusted_hooks=0,
        ruling=ruling,
        isolation=watch.isolation(),
    )


def _execute(
    recorder: Recorder,
    command: Command,
    terminal: Terminal,
    sandbox: SandboxPlan,
    *,
    token: str,
    artifact: Path | None,
) -> Outcome:
    streams = StreamPlan.PTY if terminal.pty else StreamPlan.PIPED
    with open_sandbox(recorder, sandbox) as run_sandbox:
        outcome = run_recorded(
            command,
            recorder=OutputFiles(artifact, streams=streams, filtered=recorder.redaction.filter),
            screen=Screen(stdout=terminal.out, stderr=terminal.err),
            stdin=terminal.stdin,
            timeout_s=sandbox.time_s,
            token=token,
            sandbox=run_sandbox,
        )
    return take_over_result(recorder, sandbox, outcome)


def _announce(recorder: Recorder, intent: Intent) -> None:
    recorder.project.events.emit(StepStarted(recorder.task, recorder.workspace, intent))


def _draft(
    recorder: Recorder, request: RunRequest, command: Command, sandbox: SandboxPlan
) -> Draft:
    """Return what is known of the run before it begins."""
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
        ),
    )


def _ended(draft: Draft, outcome: Outcome, terminal: Terminal) -> Draft:
    """Return the draft of a run with how the command ended."""
    status = {
        Ending.TIMEOUT: StepStatus.TIMEOUT,
        Ending.INTERRUPTED: StepStatus.INTERRUPTED,
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


def _stopped_by_hook(draft: Draft, hooks: list[HookResult]) -> Draft:
    failed = next(hook for hook in hooks if hook.exit_code != 0)
    return draft._replace(
        status=StepStatus.BLOCKED.value,
        exit_code=HOOK_FAILED_EXIT,
        reason=f"pre_run hook {failed.command!r} ended with {failed.exit_code}",
    )


def _exit_code(outcome: Outcome | None) -> int:
    if outcome is None:
        return HOOK_FAILED_EXIT
    return outcome.exit_code


def _hooks(recorder: Recorder, moment: str, command: Command) -> tuple[list[HookResult], int]:
    """Run the hooks of a moment, until a ``pre_run`` one fails."""
    hooks, untrusted = hooks_for(recorder.project, moment)
    results: list[HookResult] = []
    for hook in hooks:
        results.append(run_judged_hook(recorder.project, hook, root=recorder.root, env=command.env))
        if moment == "pre_run" and results[-1].exit_code != 0:
            break
    return results, untrusted


def _directory(project: Project, recorder: Recorder, wanted: str | None) -> Path:
    """Return where the command runs: the same place in the workspace as the caller stands in."""
    if wanted is not None:
        chosen = (recorder.root / wanted).resolve()
        if not chosen.is_relative_to(recorder.root.resolve()):
            raise UsageError(f"--cwd {wanted!r} leaves the workspace")
        if not chosen.is_dir():
            raise UsageError(f"--cwd {wanted!r} is not a directory of the workspace")
        return chosen
    here = project.app.cwd.resolve()
    for root in (recorder.root.resolve(), project.paths.root.resolve()):
        if here.is_relative_to(root):
            same = recorder.root / here.relative_to(root)
            if same.is_dir():
                return same
    return recorder.root
