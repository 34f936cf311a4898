"""What a run, its task and this day have used, beside the limits of it."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from siding.agents.transcripts.spending import Spent
from siding.ground.errors import SidingError, UsageError, counted
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.usage.limits import NO_LIMIT, OF, Amount, AtLimit, UsageLimits
from siding.usage.report import cost_of, local_day, prices_here
from siding.usage.sources import count

if TYPE_CHECKING:
    from siding.usage.prices import Prices

_SLACK_MS = 1_000  # a run's record is written a moment after it began
_WHO = {
    "run": "this run of task {} has",
    "task": "task {} has",
    "day": "today the agents of this machine have",
}
_PARTS = Amount._fields


class Used(NamedTuple):
    """What was used. `unpriced`: tokens of calls whose price nobody knows."""

    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    def plus(self, other: "Used") -> "Used":
        """Return the sum of both."""
        tokens, dollars = self.tokens + other.tokens, self.dollars + other.dollars
        return Used(tokens, dollars, self.unpriced + other.unpriced)


class Measured(NamedTuple):
    """What was used of each thing that has a limit."""

    run: Used = Used()
    task: Used = Used()
    day: Used = Used()


class Place(NamedTuple):
    """What is measured: the task by its name and its workspace, and the run, if it lives."""

    task: str
    workspace: Path
    sessions: Collection[str] = ()  # the conversations of the run
    began: int = 0  # when the run did, milliseconds since 1970


class Passed(NamedTuple):
    """A limit that is reached: its name, and a sentence about it."""

    name: str  # "task tokens", "day dollars", …
    sentence: str
    next: float  # where it would be with as much again, in tokens or dollars


def measure(app: App, place: Place, limits: UsageLimits) -> Measured:
    """Return what was used until now. Raises UsageError if its price cannot be had."""
    prices = _prices(app) if limits.of_dollars else None
    today = app.clock.now().astimezone().date().isoformat()
    # Only what a limit asks for is added up.
    of: dict[str, Callable[[Spent], bool]] = {
        "run": partial(_is_of_run, place),
        "task": _is_of_task(place),
        "day": lambda spent: local_day(spent.call.at) == today,
    }
    wanted = {name: of[name] for name in OF if getattr(limits, name) != Amount()}
    sums = dict.fromkeys(wanted, Used())
    for spent in count(app).spent:
        names = [name for name, is_of in wanted.items() if is_of(spent)]
        if names:
            used = _used(spent, prices)
            for name in names:
                sums[name] = sums[name].plus(used)
    return Measured(**sums)


def passed(
    limits: UsageLimits, measured: Measured, task: str, granted: Mapping[str, float]
) -> list[Passed]:
    """Return the limits that are reached. `granted`: what counts in the place of one, by name."""
    found = []
    for of in OF:
        for part in _PARTS:
            allowed, used = getattr(getattr(limits, of), part), getattr(measured, of)
            number = getattr(used, part)
            counts = granted.get(f"{of} {part}", allowed)
            if allowed is None or counts == NO_LIMIT or number < counts:
                continue
            sentence = f"{_WHO[of].format(task)} used {_shown(part, number)}"
            if part == "dollars" and used.unpriced:
                sentence += f" and {counted(used.unpriced, 'token')} without a known price"
            limit = f"the limit is {_shown(part, allowed)} (usage.{of})"
            found.append(Passed(f"{of} {part}", f"{sentence}; {limit}", number + allowed))
    return found


def _shown(part: str, number: float) -> str:
    return f"${number:,.2f}" if part == "dollars" else counted(int(number), "token")


def _is_of_run(place: Place, spent: Spent) -> bool:
    return spent.session in place.sessions and spent.call.at >= place.began - _SLACK_MS


def _is_of_task(place: Place) -> Callable[[Spent], bool]:
    workspace = os.path.realpath(place.workspace)

    @cache
    def is_in(cwd: str) -> bool:
        return os.path.isabs(cwd) and Path(os.path.realpath(cwd)).is_relative_to(workspace)

    return lambda spent: is_in(spent.call.cwd)


def _used(spent: Spent, prices: "Prices | None") -> Used:
    tokens = spent.call.tokens.total
    if prices is None:
        return Used(tokens)
    cost = cost_of(prices, spent.call)
    return Used(tokens, unpriced=tokens) if cost is None else Used(tokens, cost)


def _prices(app: App) -> "Prices":
    prices = prices_here(app)
    if prices.is_empty:
        from siding.ground.installation import adding

        raise UsageError(
            "a limit of `usage` is in dollars, and no price is known",
            hint=f"{adding('prices')}, write prices.yaml (docs/usage.md), or set tokens",
        )
    return prices


class LimitReached(SidingError):
    """An agent is not started, because a limit of what may be used is reached."""

    code = "limit_reached"


def warn_of_limits(project: Project, limits: UsageLimits, task: str, workspace: Path) -> None:
    """Warn of the limits that are reached before an agent's run begins.

    Raises LimitReached where a limit is set to pause or stop runs.
    """
    used = measure(project.app, Place(task, workspace), limits)
    for each in passed(limits, used, task, {}):
        if limits.at_limit is not AtLimit.WARN:
            raise LimitReached(
                f"{each.sentence}, so no agent is started",
                hint="--over-limit starts it all the same; `siding usage` shows what was used",
            )
        project.app.warn(each.sentence)
