"""Say in a few words what passed a run's proxy, and how that differs from what its agent says."""

from collections.abc import Iterator

from siding.record.ledger.step import Step
from siding.record.ledger.usage import Usage, UsedTokens, summed
from siding.record.ledger.wire import WireReport
from siding.usage.brief import brief

_REFUSED_LISTED = 20
_COUNTS = (("input", "in"), ("cache_read", "from caches"), ("output", "out"), ("calls", "calls"))


def wire_lines(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the lines of `siding show` about what passed, each a label and a text."""
    report = step.wire
    if report is None:
        return
    if report.metered:
        yield "wire", brief(report.usage) or "no answer in which tokens were counted"
        yield "", _requests(report)
        yield "", differs(report.usage, step.usage)
    if report.tunnels:
        yield "network", _counted(report.tunnels, "connection") + " to allowed hosts"
    for each in report.refused[:_REFUSED_LISTED]:
        yield "refused", f"{each.host}:{each.port}, {_times(each.times)}: {each.why}"
    if len(report.refused) > _REFUSED_LISTED:
        yield "", f"and {len(report.refused) - _REFUSED_LISTED} more"
    if report.ended_at:
        yield "", f"the proxy ended at {report.ended_at}; nothing after that was measured"


def refused_lines(step: Step) -> list[str]:
    """Return a sentence about each host that a run was refused, for those who look at it now."""
    report = step.wire
    found = () if report is None else report.refused
    lines = [
        f"refused {each.host}:{each.port}, {_times(each.times)}: {each.why}"
        for each in found[:_REFUSED_LISTED]
    ]
    more = len(found) - len(lines)
    return [*lines, f"and {more} more; `siding show` names them"] if more > 0 else lines


def differs(wire: Usage, said: Usage) -> str:
    """Return in what the wire differs from what the agent says; "" where either says nothing."""
    if not wire or not said:
        return ""
    one, other = summed(wire), summed(said)
    found = [
        f"{_more(getattr(one, name) - getattr(other, name))} {what}"
        for name, what in _COUNTS
        if getattr(one, name) != getattr(other, name)
    ]
    written = _written(one) - _written(other)
    found += [f"{_more(written)} into caches"] if written else []
    return f"on the wire {', '.join(found)} than its transcript says" if found else ""


def _requests(report: WireReport) -> str:
    parts = [_counted(report.requests, "request")]
    for count, what in (
        (report.failed, "failed"),
        (report.retries, "retried"),
        (report.cut, "cut by the server"),
        (report.left, "not waited for"),
        (report.uncounted, "not counted"),
    ):
        parts += [f"{count} {what}"] if count else []
    unusual = [f"{status}: {n}" for status, n in report.statuses.items() if status != "200"]
    unusual += [f"{error}: {n}" for error, n in report.errors.items()]
    parts += [f"({', '.join(unusual)})"] if unusual else []
    times = f"first byte after {report.first_ms} ms, slowest {report.slowest_ms} ms"
    return f"{', '.join(parts)}; {times}" if report.requests else parts[0]


def _written(used: UsedTokens) -> int:
    return used.cache_write_5m + used.cache_write_1h


def _more(count: int) -> str:
    return f"{count:,} more" if count > 0 else f"{-count:,} fewer"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
