"""What conversations used: tokens and dollars by model, turns, calls of tools, durations."""

from collections.abc import Sequence

from siding.agents.transcripts.counting.calls import Tokens
from siding.assistant.looking.chosen import EMPTY_HINT, looked_at
from siding.assistant.looking.turns import ToolCall, calls_of, requests_of, turns_of
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.sessions.shelf import store_of
from siding.usage.report import cost_of, prices_here
from siding.usage.sources import count_kept


class ModelSpending(NamedTuple):
    """What one model used. `dollars` is None if no price is known of any of it."""

    model: str
    tokens: Tokens
    dollars: float | None
    unpriced: int  # tokens whose price nobody knows


class ToolSpending(NamedTuple):
    """Calls of one tool. Times are from call to result, in milliseconds."""

    name: str
    calls: int
    failed: int
    total_ms: int
    longest_ms: int


class Spending(NamedTuple):
    """What one conversation used, or all of the project.

    `busy_ms` adds up the turns, each from its prompt to its last message.
    """

    session: str  # "" for all
    title: str
    conversations: int
    models: tuple[ModelSpending, ...]
    turns: int
    requests: int
    busy_ms: int
    tools: tuple[ToolSpending, ...]


def spending_of(project: Project, named: str) -> Spending:
    """Return what a conversation used. Raises NotFound."""
    found = looked_at(project, named)
    spending = _spending(project, [found.id])
    return spending._replace(session=found.id, title=found.title)


def spending_of_all(project: Project) -> Spending:
    """Return what all conversations that are kept in the project used. Raises NotFound."""
    rows = store_of(project).rows(hidden=True)
    if not rows:
        raise NotFound("there is no conversation in this project yet", hint=EMPTY_HINT)
    return _spending(project, [row.id for row in rows])


def tools_used(calls: Sequence[ToolCall]) -> tuple[ToolSpending, ...]:
    """Return the calls by tool, the one that took longest first."""
    rows: dict[str, ToolSpending] = {}
    for call in calls:
        row = rows.get(call.name, ToolSpending(call.name, 0, 0, 0, 0))
        took = call.took_ms or 0
        failed = call.is_error or not call.has_result
        rows[call.name] = ToolSpending(
            call.name,
            row.calls + 1,
            row.failed + failed,
            row.total_ms + took,
            max(row.longest_ms, took),
        )
    return tuple(sorted(rows.values(), key=lambda row: (-row.total_ms, -row.calls, row.name)))


def _spending(project: Project, sessions: Sequence[str]) -> Spending:
    calls: list[ToolCall] = []
    turns = requests = busy = 0
    for session in sessions:
        history = looked_at(project, session).history
        own = turns_of(history)
        turns += len(own)
        busy += sum(turn.took_ms for turn in own)
        requests += len(requests_of(history))
        calls += calls_of(history)
    models = _by_model(project, frozenset(sessions))
    return Spending("", "", len(sessions), models, turns, requests, busy, tools_used(calls))


def _by_model(project: Project, sessions: frozenset[str]) -> tuple[ModelSpending, ...]:
    prices = prices_here(project.app)
    rows: dict[str, ModelSpending] = {}
    for spent in count_kept(project):
        if spent.session not in sessions:
            continue
        call = spent.call
        row = rows.get(call.model, ModelSpending(call.model, Tokens(), None, 0))
        price = cost_of(prices, call)
        dollars = row.dollars if price is None else (row.dollars or 0.0) + price
        unpriced = row.unpriced + (call.tokens.total if price is None else 0)
        rows[call.model] = ModelSpending(
            call.model, row.tokens.plus(call.tokens), dollars, unpriced
        )
    return tuple(rows[model] for model in sorted(rows))
