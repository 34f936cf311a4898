"""What passed the proxy of a run: all of it for the run's step, a part for that of each turn."""

import os
from collections.abc import Iterable, Mapping

from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.reports import RefusedHost, WireReport
from siding.record.ledger.store import Ledger
from siding.record.ledger.usage import UsedTokens
from siding.record.wire.call import Passed
from siding.record.wire.journal import hash_of, living, read_passed
from siding.record.wire.sums import sums_of

_MOST_REFUSED = 50  # that a step names; the file has all


def report_of(lines: Iterable[Passed], *, metered: bool = False) -> WireReport:
    """Return the sums of lines, as a step has them. Lines of requests tell by themselves that they
    were `metered`."""
    sums = sums_of(lines)
    return WireReport(
        metered=metered or sums.requests > 0,
        requests=sums.requests,
        failed=sums.failed,
        cut=sums.cut,
        left=sums.left,
        retries=sums.retries,
        uncounted=sums.uncounted,
        statuses=sums.statuses,
        errors=sums.errors,
        usage={model: UsedTokens(*tokens, calls) for model, (tokens, calls) in sums.tokens.items()},
        first_ms=sums.first_ms,
        slowest_ms=sums.slowest_ms,
        tunnels=sums.tunnels,
        refused=_named(sums.refused),
    )


def report_of_run(
    layout: TaskLayout, run_id: str, *, metered: bool = False, ended_at: str = ""
) -> WireReport:
    """Return what passed the proxy of a run that has ended; its file is flushed."""
    path = living(layout, run_id)
    try:
        lines = read_passed(path)[0]
    except OSError:
        lines = []
    found = report_of(lines, metered=metered)
    return found._replace(ended_at=ended_at, sha256=hash_of(path))


def report_of_turn(layout: TaskLayout, run_id: str, since: str) -> WireReport | None:
    """Return what passed since the last turn of the run that has a report; None for nothing.

    `since` is the newest step when the run began: none before it is of the run.
    """
    path = living(layout, run_id)
    if not os.path.exists(path):
        return None
    try:
        lines, end = read_passed(path, after=_through(layout, run_id, since))
    except OSError:
        return None
    if not lines:
        return None
    return report_of(lines)._replace(through=end)


def _through(layout: TaskLayout, run_id: str, since: str) -> int:
    """Return how far the file of a run is in the reports of its turns."""
    for step in Ledger(layout.ledger_jsonl).newest_first():
        turn = step.as_checkpoint
        if step.id == since:
            break
        if turn is not None and turn.run == run_id and turn.wire is not None:
            return turn.wire.through
    return 0


def _named(refused: Mapping[tuple[str, int, str], int]) -> tuple[RefusedHost, ...]:
    found = (
        RefusedHost(host=host, port=port, times=times, why=why)
        for (host, port, why), times in refused.items()
    )
    return tuple(found)[:_MOST_REFUSED]
