"""What passed the proxy of a run, summed up: for the run's step, and a part for each turn's."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median_low

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.reports import RefusedHost, WireReport
from siding.record.ledger.store import Ledger
from siding.record.ledger.usage import UsedTokens
from siding.record.wire.journal import Ending, Kind, Passed, hash_of, living, read_passed
from siding.record.wire.tokens import Tokens

_MOST_REFUSED = 50  # that a step names; the file has all
_UNNAMED = "unknown"  # the model of an answer that does not name one


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


class Sums(NamedTuple):
    """What many lines come to. `tokens` are by model, with the number of calls; `refused` are how
    often, by host, port and reason."""

    requests: int
    failed: int
    cut: int
    left: int
    retries: int
    uncounted: int
    statuses: Mapping[str, int]
    errors: Mapping[str, int]
    tokens: Mapping[str, tuple[Tokens, int]]
    first_ms: int
    slowest_ms: int
    tunnels: int
    refused: Mapping[tuple[str, int, str], int]


def sums_of(lines: Iterable[Passed]) -> Sums:
    """Return the sums of all lines."""
    lines = list(lines)
    requests = [each for each in lines if each.kind is Kind.REQUEST]
    answered = [each for each in requests if each.status]
    statuses = Counter(str(each.status) for each in answered)
    refused = Counter(
        (each.host, each.port, each.why) for each in lines if each.kind is Kind.REFUSED
    )
    return Sums(
        requests=len(requests),
        failed=sum(each.failed for each in requests),
        cut=sum(each.ended == Ending.CUT for each in requests),
        left=sum(each.ended == Ending.LEFT for each in requests),
        retries=sum(each.retry for each in requests),
        uncounted=sum(bool(each.why) and bool(each.status) for each in requests),
        statuses=dict(sorted(statuses.items())),
        errors=dict(sorted(Counter(each.error for each in requests if each.error).items())),
        tokens=_by_model(requests),
        first_ms=median_low([each.first_ms for each in answered]) if answered else 0,
        slowest_ms=max((each.ms for each in requests), default=0),
        tunnels=sum(each.kind is Kind.TUNNEL for each in lines),
        refused=dict(refused.most_common()),
    )


def _by_model(requests: Iterable[Passed]) -> dict[str, tuple[Tokens, int]]:
    found: dict[str, tuple[Tokens, int]] = {}
    for each in requests:
        if each.tokens is None:
            continue
        before, calls = found.get(each.model or _UNNAMED, (Tokens(), 0))
        counts = (one + two for one, two in zip(before, each.tokens, strict=True))
        found[each.model or _UNNAMED] = Tokens(*counts), calls + 1
    return found
