"""Finish a run that was cut off: end its processes, recover its output and its commits."""

from siding.app.unfinished.ground import Ground
from siding.app.unfinished.run_leftovers import as_left, output_of
from siding.ledger.details.run import RunDetail
from siding.ledger.draft import Draft
from siding.ledger.intents import Intent
from siding.ledger.reports import OutputReport, ProcessReport
from siding.process.output_files import RecoveredOutput, recover_output
from siding.process.tree import EndedProcesses, end_token


def finish_run(ground: Ground, intent: Intent) -> Draft:
    """End the processes of a cut-off run; return the draft of its step, with its output."""
    left = end_token(intent.token) if intent.token else None
    draft = intent.draft
    if draft.exit_code is None and not draft.status:
        draft = draft._replace(exit_code=-1)
    detail = draft.detail
    if not isinstance(detail, RunDetail):
        return draft
    found = recover_output(output_of(ground.layout, intent))
    if detail.sandbox is not None:  # commits made inside are not in the repository yet
        from siding.app.unfinished.sandbox_commits import take_over_leftover

        take_over_leftover(ground.project, ground.layout, ground.workspace)
    return draft._replace(detail=_with_what_was_left(detail, found, left))


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
