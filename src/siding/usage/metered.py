"""What was metered in a project, run by run, beside what the agents say of the same runs."""

from datetime import date, datetime

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.usage import UsedTokens, summed
from siding.record.ledger.wire import WireReport
from siding.record.place.project import Project
from siding.usage.wire import differs


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
