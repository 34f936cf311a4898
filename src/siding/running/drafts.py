"""Make the draft of a run's step before the command starts, and complete it after it ended."""

import os
from collections.abc import Sequence

from siding.agents.table import BY_PROGRAM
from siding.ground.process.command import Command, Ending, Outcome, StreamPlan
from siding.guard.hooks import HookResult
from siding.record.ledger.draft import Draft
from siding.record.ledger.reports import OutputReport, ProcessReport, as_left
from siding.record.ledger.run_details import RunDetail
from siding.record.ledger.step import StepStatus
from siding.record.recording.recorder import Recorder
from siding.record.runs.run import LONGEST_PROMPT
from siding.running.request import RunRequest, Terminal
from siding.sandbox.sandbox import REFUSED_EXIT, SandboxPlan

HOOK_FAILED_EXIT = 1


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
