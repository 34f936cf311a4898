"""Sums of what passed. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from statistics import median_low

from siding.ground.namedtuples import NamedTuple
from siding.record.wire.call import Ending, Kind, Passed
from siding.record.wire.tokens import Tokens

_UNNAMED = "unknown"  # the model of an answer that does not name one


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
