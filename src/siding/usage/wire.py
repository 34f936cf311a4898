"""What passed the proxies of runs, and how that differs from what their agents say."""

from collections.abc import Iterator
from datetime import date, datetime

from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import WireReport
from siding.record.ledger.step import Step
from siding.record.ledger.usage import Usage, UsedTokens, summed
from siding.record.place.project import Project
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
        yield "network", counted(report.tunnels, "connection") + " to allowed hosts"
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
    parts = [counted(report.requests, "request")]
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


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


class MeteredRun(NamedTuple):
    """A run whose requests were measured. `said` is what its agent says, None if it says nothing;
    the same calls are in both."""

    task: str
    step: str
    run: str
    started_at: str
    wire: WireReport
    said: UsedTokens | None
    difference: str  # in words; "" for none, and where the agent says nothing

    @property
    def tokens(self) -> UsedTokens:
        return summed(self.wire.usage)


def metered_runs(project: Project, since: date | None, until: date | None) -> list[MeteredRun]:
    """Return the metered runs of all tasks that began in these days, oldest first."""
    found = []
    for task in project.tasks.readable():
        for step in project.ledger(task.id).steps():
            run = step.as_run
            if run is None or run.wire is None or not run.wire.metered:
                continue
            day = _day_of(step.started_at)
            if day is None or (since and day < since) or (until and day > until):
                continue
            found.append(
                MeteredRun(
                    task=task.name,
                    step=step.id,
                    run=run.run,
                    started_at=step.started_at,
                    wire=run.wire,
                    said=summed(run.usage) if run.usage else None,
                    difference=differs(run.wire.usage, run.usage),
                )
            )
    return sorted(found, key=lambda each: each.started_at)


def _day_of(at: str) -> date | None:
    try:
        return datetime.fromisoformat(at).astimezone().date()
    except ValueError:
        return None
