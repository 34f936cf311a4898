"""Limits of what agents may use, and what a run, its task and this day have used beside them.

The limits are the section `usage` of settings. Two files are read: the person's for everything
(``config.yaml`` in Siding's home) and the one of this project, which replaces what it names. A
repository has no say in what a person may spend.
"""

import os
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.agents.transcripts.spending import Spent
from siding.ground.errors import SidingError, UsageError, counted
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.settings import is_default, parse_settings
from siding.record.place.wiring import App
from siding.usage.report import cost_of, local_day, prices_here
from siding.usage.sources import count

if TYPE_CHECKING:
    from siding.usage.prices import Prices

OF = ("run", "task", "day")
_EXAMPLES = "5M, 500k, $20, or both: [5M, $20]"
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
NO_LIMIT = 0.0  # in the place of one
_SLACK_MS = 1_000  # a run's record is written a moment after it began
_WHO = {
    "run": "this run of task {} has",
    "task": "task {} has",
    "day": "today the agents of this machine have",
}


class AtLimit(StrEnum):
    """What happens when a limit is reached."""

    WARN = "warn"  # the person is told
    PAUSE = "pause"  # the agent waits until a person has said whether it goes on
    STOP = "stop"  # the run is ended


class Amount(NamedTuple):
    """How much may be used; None is no limit."""

    tokens: int | None = None
    dollars: float | None = None


class UsageLimits(NamedTuple):
    """What a run, a task, and all agents of this machine on one day may use."""

    run: Amount = Amount()
    task: Amount = Amount()
    day: Amount = Amount()
    at_limit: AtLimit = AtLimit.WARN

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return (self.run, self.task, self.day) != (Amount(),) * 3

    @property
    def of_dollars(self) -> bool:
        """Whether any limit is one of dollars."""
        return any(each.dollars is not None for each in (self.run, self.task, self.day))


def usage_limits(project: Project) -> UsageLimits:
    """Return the limits in force. Raises UsageError that names the file and the key."""
    said = {**_said_in(project.app.home.config_path), **_said_in(project.layout.config_yaml)}
    return UsageLimits(**said)


def amount_in(value: object) -> Amount | None:
    """Return the amount that a value of the settings stands for; None if it stands for none."""
    found = Amount()
    for word in value if isinstance(value, list) else [value]:
        if not isinstance(word, int | str):
            return None
        one = _one(str(word).strip().lower().replace("_", "").replace(",", ""))
        if one is None:
            return None
        found = found._replace(**{name: it for name, it in one._asdict().items() if it is not None})
    return None if found == Amount() else found


def _one(word: str) -> Amount | None:
    if word.startswith("$"):
        dollars = _number(word[1:])
        return None if dollars is None else Amount(dollars=dollars)
    unit = word[-1:] if word[-1:] in _UNITS else ""
    tokens = _number(word.removesuffix(unit))
    return None if tokens is None else Amount(tokens=round(tokens * _UNITS[unit]))


def _number(digits: str) -> float | None:
    whole, _, part = digits.partition(".")
    if not (whole + part).isascii() or not (whole + part).isdigit() or len(digits) > 18:
        return None
    return float(digits) or None


def _said_in(path: Path) -> dict[str, Any]:
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return {}
    if is_default(raw) or b"usage" not in raw:
        return {}
    section = parse_settings(path, raw).get("usage")
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise _wrong(path, "usage", "a section", section)
    return _values(section, path)


def _values(section: Mapping[str, Any], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.items():
        name = f"usage.{key}"
        if key not in (*OF, "at_limit"):
            raise UsageError(
                f"{name} in {str(path)!r} is no setting", hint="it has run, task, day and at_limit"
            )
        if value is None:
            continue
        if key == "at_limit":
            if value not in tuple(AtLimit):
                raise _wrong(path, name, f"one of {', '.join(AtLimit)}", value)
            found[key] = AtLimit(value)
        else:
            amount = amount_in(value)
            if amount is None:
                raise _wrong(path, name, f"tokens or dollars ({_EXAMPLES})", value)
            found[key] = amount
    return found


def _wrong(path: Path, name: str, wanted: str, value: object) -> UsageError:
    return UsageError(f"{name} in {str(path)!r} should be {wanted}, and is {value!r}")


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
