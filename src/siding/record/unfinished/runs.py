"""Finish a run that was cut off: end its processes, recover its output and its commits."""

from collections.abc import Callable
from pathlib import Path

from siding.ground.process.command import Ending
from siding.ground.process.ender import end_token, orphans_in
from siding.ground.process.identity import await_end, boot_id
from siding.ground.process.output.files import rename_output
from siding.ground.process.output.reading import RecoveredOutput, has_output, recover_output
from siding.ground.process.tree import EndedProcesses
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.kinds import StepStatus
from siding.record.ledger.reports import (
    OutputReport,
    ProcessReport,
    RequestsReport,
    WireReport,
    as_left,
)
from siding.record.ledger.run_details import BASE, RunDetail
from siding.record.ledger.store import Ledger
from siding.record.runs.file_names import WIRE
from siding.record.runs.live_run import RunRecords
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.unfinished.ground import Ground

ALONE = "the run survived its host, which was killed; what it printed since then is not recorded"
_KEEPER_S = 5.0  # it gives what it ends two seconds to tidy up


def finish_run(ground: Ground, intent: Intent) -> Draft:
    """End the processes of a cut-off run; return the draft of its step, with its output."""
    draft = intent.draft
    run = _run_of(ground.layout, draft)
    left = end_token(intent.token, command=_command_of(run)) if intent.token else None
    await_keeper(run)
    if run is not None and (fate := RunRecords(ground.layout).fate(run)) is not None:
        draft = _without_host(draft, fate)
    if left is not None and run is not None and run.boot == boot_id():
        escaped = orphans_in(Path(ground.workspace.path), since=run.command.started)
        left = left._replace(survivors=(*left.survivors, *escaped))
    if draft.exit_code is None and not draft.status:
        draft = draft._replace(exit_code=-1)
    detail = draft.as_run
    if detail is None:
        return draft
    found = recover_output(_own_output(ground.layout, intent, detail))
    if detail.sandbox is not None:  # commits made inside are not in the repository yet
        from siding.record.unfinished.sandbox_commits import take_over_leftover

        take_over_leftover(ground.project, ground.layout, ground.workspace)
    detail = detail._replace(
        since=detail.since or _since(ground, run),
        requests=_own_requests(ground.layout, intent),
        wire=_own_wire(ground.layout, intent, detail),
    )
    return draft._replace(detail=_with_what_was_left(detail, found, left))


def _since(ground: Ground, run: Run | None) -> str:
    """Return the step after which a run began, if others were recorded while it lived."""
    newest = Ledger(ground.layout.ledger_jsonl).last()
    if run is None or newest is None or newest.id == run.since:
        return ""
    return run.since or BASE


def _without_host(draft: Draft, fate: int) -> Draft:
    """Return the draft of a run that survived its host, with how its command ended."""
    assert isinstance(draft.detail, RunDetail)
    status = StepStatus.COMPLETED if fate == 0 else StepStatus.FAILED
    ending = Ending.EXITED if fate >= 0 else Ending.SIGNALLED
    detail = draft.detail._replace(ending=ending.value, notes=(*draft.detail.notes, ALONE))
    exit_code = fate if fate >= 0 else 128 - fate
    return draft._replace(detail=detail, status=status.value, exit_code=exit_code)


def _run_of(layout: TaskLayout, draft: Draft) -> Run | None:
    ran = draft.as_run
    return None if ran is None else Runs(layout).find(ran.run)


def end_what_is_left(run: Run) -> None:
    """End the processes of a run whose host died, unless the machine was started again since."""
    if run.token and (not run.boot or run.boot == boot_id()):
        end_token(run.token, command=_command_of(run))
    await_keeper(run)


def _command_of(run: Run | None) -> tuple[int, int]:
    """Return the pid and start time of a run's command; (0, 0) if this boot knows none."""
    if run is None or run.boot != boot_id():
        return (0, 0)
    return run.command.pid, run.command.started


def await_keeper(run: Run | None) -> None:
    """Wait until the keeper of a run whose host died has ended what was below it.

    A process of another user (``sudo``) it can only wait for; we do not.
    """
    if run is not None and run.keeper.pid and run.boot == boot_id():
        await_end(run.keeper.pid, run.keeper.started, seconds=_KEEPER_S)


def _own_output(layout: TaskLayout, intent: Intent, detail: RunDetail) -> Path:
    """Return the output of a run under the act's name: cut off in its end, it may have a number.

    That number is one that no step has; the one in the intent was only expected.
    """
    own = layout.artifact(intent.stem, "output")
    numbered = None if has_output(own) else _without_a_step(layout, intent, "output", has_output)
    if numbered is not None:
        rename_output(numbered, own, detail.output.stdout_bytes if detail.output else None)
    return own


def _own_requests(layout: TaskLayout, intent: Intent) -> RequestsReport | None:
    """Return a report on what a run asked; its file gets the act's name back, as its output."""
    own = layout.artifact(intent.stem, "requests")
    if not own.exists():
        numbered = _without_a_step(layout, intent, "requests", Path.exists)
        if numbered is None:
            return None
        numbered.replace(own)
    from siding.record.runs.requests import counted  # few runs ask anything

    found = counted(layout, intent.stem)
    return None if found is None else RequestsReport(*found)


def _own_wire(layout: TaskLayout, intent: Intent, detail: RunDetail) -> WireReport | None:
    """Return a report on what passed the run's proxy; its file gets the run's name back."""
    own = layout.runs_dir / f"{detail.run}{WIRE}"
    if not own.exists():
        numbered = _without_a_step(layout, intent, "wire", Path.exists)
        if numbered is None or not detail.run:
            return detail.wire
        numbered.replace(own)
    from siding.record.wire.report import report_of_run  # few runs have a proxy

    return report_of_run(layout, detail.run)


def _without_a_step(
    layout: TaskLayout, intent: Intent, kind: str, is_there: Callable[[Path], bool]
) -> Path | None:
    """Return an artifact with a number that no step has; None if there is none."""
    ledger = Ledger(layout.ledger_jsonl)
    newest = ledger.last()
    end = newest.number + 1 if newest is not None else 1
    for number in range(intent.number, max(end, intent.number) + 1):
        named = layout.artifact(number, kind)
        if is_there(named) and (number >= end or ledger.find(number) is None):
            return named
    return None


def _with_what_was_left(
    detail: RunDetail, found: RecoveredOutput | None, left: EndedProcesses | None
) -> RunDetail:
    if found is not None and detail.output is None:
        detail = detail._replace(
            output=OutputReport(
                streams=found.streams.value,
                stdout_bytes=found.stdout_bytes,
                stderr_bytes=found.stderr_bytes,
                sha256=found.sha256,
                complete=False,
            )
        )
    if left is not None and (left.ended or left.survivors):
        report = ProcessReport(ended=as_left(left.ended), survivors=as_left(left.survivors))
        detail = detail._replace(processes=report)
    return detail
