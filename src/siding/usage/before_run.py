"""What a limit of `usage` means for an agent that is about to be started."""

from pathlib import Path

from siding.ground.errors import SidingError
from siding.record.place.project import Project
from siding.usage.limits import AtLimit, UsageLimits, usage_limits
from siding.usage.measured import Place, measure, passed


class LimitReached(SidingError):
    """An agent is not started, because a limit of what may be used is reached."""

    code = "limit_reached"


def limits_before(project: Project, task: str, workspace: Path) -> UsageLimits:
    """Return the limits that an agent's run has; warn of those that are reached.

    Raises LimitReached where a limit is set to pause or stop runs, and UsageError for settings that
    cannot be used.
    """
    limits = usage_limits(project)
    if not limits.is_set:
        return limits
    used = measure(project.app, Place(task, workspace), limits)
    for each in passed(limits, used, task, {}):
        if limits.at_limit is not AtLimit.WARN:
            raise LimitReached(
                f"{each.sentence}, so no agent is started",
                hint="--over-limit starts it all the same; `siding usage` shows what was used",
            )
        project.app.warn(each.sentence)
    return limits
