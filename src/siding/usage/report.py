"""Add up what agents used, by day, model, client, project, task, run, workflow, session or turn.

A call belongs to a project, task and run by the directory it was made in and when.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from siding.agents.transcripts.counting import Call, Tokens
from siding.agents.transcripts.kinds import moment
from siding.agents.transcripts.spending import Spent
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.run_details import RunDetail
from siding.record.ledger.step import Step
from siding.record.place.project import Project, require_project
from siding.record.place.projects import known_projects
from siding.record.place.quantities import seconds_in
from siding.record.place.wiring import App, HomeHidden
from siding.usage.sources import count

if TYPE_CHECKING:
    from siding.usage.prices import Prices

BY = ("day", "model", "client", "project", "task", "run", "workflow", "session", "turn")
_QUARTER_MS = 15 * 60 * 1000
NOT_SHOWN = "(not shown)"
NOWHERE = "-"
Namer = Callable[[Spent], str]
_SLACK_MS = 2_000  # a client writes its last line a little after it was told to end


class Question(NamedTuple):
    """What is asked. `since`, `until`: days, both included. `here`: of this project only."""

    by: str = "day"
    since: date | None = None
    until: date | None = None
    here: bool = False
    session: str = ""  # its id, or the beginning of it
    cost: bool = False


class UsageRow(NamedTuple):
    """What was used of one day, model, …

    `cost`: dollars of the calls with a known price; None if it was not asked. `unpriced`: tokens of
    calls whose price nobody knows. `hidden`: calls that are in no line of a transcript.
    """

    name: str
    tokens: Tokens
    cost: float | None
    unpriced: int
    hidden: bool


class UsageReport(NamedTuple):
    """The rows by name, their sum, the models without a price, and what could not be read."""

    rows: list[UsageRow]
    total: UsageRow
    unknown_prices: tuple[str, ...]
    problems: tuple[str, ...]


class CountedByRun(NamedTuple):
    """What a run has counted of one agent; `dollars` is None if no price is known."""

    name: str
    session: str
    at: int
    model: str
    tokens: Tokens
    dollars: float | None


class WorkflowUsage(NamedTuple):
    """The calls with the names of their runs, and what only the runs themselves know."""

    calls: list[tuple[str, Spent]]
    counted: list[CountedByRun]


# What the runs of a project's workflows used, of these calls and beside them.
OfWorkflows = Callable[[Project, Iterable[Spent]], WorkflowUsage]


def report(app: App, question: Question, of_workflows: OfWorkflows) -> UsageReport:
    """Return what was used. Raises UsageError for a question that has no sense."""
    counts = count(app)
    spent = counts.spent
    if question.session or question.since is not None or question.until is not None:
        spent = [each for each in spent if _is_asked(each.session, each.call.at, question)]
    if question.here or question.by in ("task", "run"):
        project = require_project(app)
        spent = [each for each in spent if holds(project, each.call.cwd)]
    prices = prices_here(app) if question.cost else None
    sums = _Sums(prices)
    if question.by == "workflow":
        # Of all days: an agent with any call is counted by its calls.
        used = of_workflows(require_project(app), counts.spent)
        _add_workflows(used, question, sums)
    else:
        sums.add(spent, _namer(app, question.by))
    return UsageReport(sums.rows(), sums.total(), sums.unknown(), counts.problems)


def day_of(said: str, now: datetime) -> date:
    """Return the day that is meant: 2026-11-24, today, yesterday, or as long ago as 7d.

    Raises UsageError.
    """
    if said in ("today", "yesterday"):
        return now.date() - timedelta(days=said == "yesterday")
    try:
        return date.fromisoformat(said)
    except ValueError:
        pass
    ago = seconds_in(said)
    if ago is None:
        raise UsageError(f"{said!r} is no day", hint="2026-11-24, today, yesterday, or 7d")
    return (now - timedelta(seconds=ago)).date()


def local_day(at_ms: int) -> str:
    """Return the day of a call where the person is; NOWHERE if its time is not known."""
    return _day_of_quarter(at_ms // _QUARTER_MS) if at_ms else NOWHERE


@cache
def _day_of_quarter(quarter: int) -> str:
    # Everywhere a day begins at a quarter of an hour.
    return datetime.fromtimestamp(quarter * _QUARTER_MS / 1000).date().isoformat()  # noqa: DTZ006


def cost_of(prices: "Prices", call: Call) -> float | None:
    """Return the dollars of one call: by the price of that day, else as its client said."""
    tokens = call.tokens
    rates = prices.rates(call.provider, call.model, call.at, tokens.sent if tokens.calls else 0)
    if rates is None:
        return call.cost or None
    return (
        tokens.input * rates.input
        + tokens.cache_read * rates.cache_read
        + tokens.cache_write_5m * rates.cache_write_5m
        + tokens.cache_write_1h * rates.cache_write_1h
        + tokens.output * rates.output
    )


def prices_here(app: App) -> "Prices":
    """Return the prices that are known. Raises UsageError for own ones that cannot be read."""
    from siding.usage.prices import Prices, own_prices

    return Prices(own_prices(app.home.root))


def _add_workflows(used: WorkflowUsage, question: Question, sums: "_Sums") -> None:
    asked = [
        (run, each) for run, each in used.calls if _is_asked(each.session, each.call.at, question)
    ]
    names = {id(each): run for run, each in asked}
    sums.add((each for _run, each in asked), lambda each: names[id(each)])
    for counted in used.counted:
        if _is_asked(counted.session, counted.at, question):
            sums.add_counted(counted)


def _is_asked(session: str, at: int, question: Question) -> bool:
    if question.session and not session.startswith(question.session):
        return False
    if question.since is None and question.until is None:
        return True
    day = local_day(at)
    since = question.since.isoformat() if question.since is not None else ""
    until = question.until.isoformat() if question.until is not None else "9999-12-31"
    return day != NOWHERE and since <= day <= until


def _namer(app: App, by: str) -> Namer:
    named: dict[str, Callable[[], Namer]] = {
        "day": lambda: lambda spent: local_day(spent.call.at),
        "model": lambda: lambda spent: spent.call.model,
        "client": lambda: lambda spent: spent.client,
        "session": lambda: lambda spent: spent.session,
        "turn": lambda: lambda spent: f"{spent.session}#{spent.call.turn}",
        "project": lambda: project_names(app),
        "task": lambda: task_names(require_project(app)),
        "run": lambda: run_names(require_project(app)),
    }
    return named[by]()


class _Sums:
    """The rows as they grow."""

    def __init__(self, prices: "Prices | None") -> None:
        self._prices = prices
        self._rows: defaultdict[tuple[str, bool], list[Call]] = defaultdict(list)
        self._counted: dict[tuple[str, bool], list[CountedByRun]] = {}
        self._made: list[UsageRow] = []
        self._unknown: set[str] = set()

    def add(self, spent: Iterable[Spent], name: Namer) -> None:
        """Add calls, each to the row of its name."""
        rows = self._rows
        for each in spent:
            rows[name(each), each.hidden].append(each.call)

    def add_counted(self, counted: "CountedByRun") -> None:
        """Add to a row what a run of a workflow has counted by itself."""
        key = (counted.name, False)
        self._rows.setdefault(key, [])
        self._counted.setdefault(key, []).append(counted)

    def rows(self) -> list[UsageRow]:
        """Return the rows by name, the hidden one of a name behind the other."""
        self._made = [self._row(name, hidden) for name, hidden in sorted(self._rows)]
        return self._made

    def total(self) -> UsageRow:
        """Return the sum of all rows."""
        return _summed(self._made, None if self._prices is None else 0.0)

    def unknown(self) -> tuple[str, ...]:
        """Return the models whose price nobody knows."""
        return tuple(sorted(self._unknown))

    def _row(self, name: str, hidden: bool) -> UsageRow:
        calls = self._rows[name, hidden]
        # Column by column: a sum of values one by one takes most of the time of a report.
        counted = self._counted.get((name, hidden), [])
        columns = zip(
            *[call.tokens for call in calls], *[each.tokens for each in counted], strict=True
        )
        row = UsageRow(name, Tokens(*map(sum, columns)), None, 0, hidden)
        if self._prices is None:
            return row
        return self._with_counted(self._priced(row, calls, self._prices), counted)

    def _with_counted(self, row: UsageRow, counted: "list[CountedByRun]") -> UsageRow:
        cost, unpriced = row.cost or 0.0, row.unpriced
        for each in counted:
            if each.dollars is not None:
                cost += each.dollars
            elif each.tokens.total:
                unpriced += each.tokens.total
                self._unknown.add(each.model)
        return row._replace(cost=cost, unpriced=unpriced)

    def _priced(self, row: UsageRow, calls: list[Call], prices: "Prices") -> UsageRow:
        cost, unpriced = 0.0, 0
        for call in calls:
            price = cost_of(prices, call)
            if price is not None:
                cost += price
            elif call.tokens.total:
                unpriced += call.tokens.total
                self._unknown.add(call.model)
        return row._replace(cost=cost, unpriced=unpriced)


def _summed(rows: Iterable[UsageRow], cost: float | None) -> UsageRow:
    total = UsageRow("total", Tokens(), cost, 0, False)
    for row in rows:
        total = total._replace(
            tokens=total.tokens.plus(row.tokens),
            cost=None if cost is None else (total.cost or 0.0) + (row.cost or 0.0),
            unpriced=total.unpriced + row.unpriced,
        )
    return total


class _Run(NamedTuple):
    name: str
    session: str
    began: int
    ended: int


def project_names(app: App) -> Namer:
    """Return what names the project of a call; outside of all it is the directory."""
    projects: list[Project] = []
    with suppress(HomeHidden):  # in a sandbox each is its directory
        projects += [each.project for each in known_projects(app) if each.project is not None]

    @cache
    def name(cwd: str) -> str:
        if not os.path.isabs(cwd):
            return NOWHERE
        for project in projects:
            if holds(project, cwd):
                return project.layout.root.name
        return cwd

    return lambda spent: name(spent.call.cwd)


def holds(project: Project, cwd: str) -> bool:
    """Whether a directory is in the project's checkout or in a workspace of it."""
    return os.path.isabs(cwd) and (
        Path(cwd).is_relative_to(project.paths.main_worktree or os.devnull)
        or project.task_around(Path(cwd)) is not None
    )


def task_names(project: Project) -> Namer:
    """Return what names the task in whose workspace a call was made."""

    @cache
    def name(cwd: str) -> str:
        found = project.task_around(Path(cwd)) if os.path.isabs(cwd) else None
        return found or NOWHERE

    return lambda spent: name(spent.call.cwd)


def run_names(project: Project) -> Namer:
    """Return what names the run that a call was made in.

    It is the run whose agent reported this conversation, at that time; of agents that report
    nothing, the only one that ran in the task then.
    """
    task_in = task_names(project)

    @cache
    def runs(task: str) -> tuple[_Run, ...]:
        found = next((each for each in project.tasks.readable() if each.id == task), None)
        if found is None:
            return ()
        steps = project.ledger(found.id).steps()
        return tuple(
            _run(found.name, each, run) for each in steps if (run := each.as_run) is not None
        )

    def name(spent: Spent) -> str:
        task = task_in(spent)
        near = [
            each
            for each in runs(task)
            if each.began - _SLACK_MS <= spent.call.at <= each.ended + _SLACK_MS
            and each.session in ("", spent.session)
        ]
        named = [each for each in near if each.session]
        chosen = named or near
        return chosen[0].name if len(chosen) == 1 else NOWHERE

    return name


def _run(task: str, step: Step, run: RunDetail) -> _Run:
    session = run.reported.session if run.reported else ""
    return _Run(
        name=f"{task} {step.id}",
        session=session,
        began=moment(step.started_at) or 0,
        ended=moment(step.ended_at) or 0,
    )
