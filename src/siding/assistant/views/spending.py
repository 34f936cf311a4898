"""What conversations used: tokens and dollars by model, turns, calls of tools, durations."""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from siding.agents.transcripts.counting import Tokens
from siding.agents.transcripts.kinds import moment
from siding.assistant.views.conversation import (
    EMPTY_HINT,
    ModelRequest,
    ToolCall,
    calls_of,
    looked_at,
    requests_of,
    turns_of,
)
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


# --------------------------------------------------------------------------------------------------
# Where a prompt cache was missed between two requests of a conversation, and the likely cause
#
# A provider reads what it has kept of a prompt from its beginning to the first change. So a request
# that reads less than the one before it had kept has missed: something near the beginning changed,
# or the provider had dropped it. The transcript tells which of the known causes there was.


SHORT_MS = 5 * 60 * 1000  # as long as a provider keeps a prompt, if nothing longer was asked for
LONG_MS = 60 * 60 * 1000


class MissCause(StrEnum):
    """Why a cache was missed, as far as the transcript tells."""

    MODEL = "another model was asked"
    COMPACTED = "the conversation was summed up in between"
    HOUR = "more than an hour has passed"
    MINUTES = "more than 5 minutes have passed"
    VERSION = "another version of Siding asked"
    UNKNOWN = "the system prompt, the tools or an old message changed, or the provider dropped it"


class CacheMiss(NamedTuple):
    """A request that found less than was kept. Tokens."""

    number: int  # of the request, from 1
    request: ModelRequest
    kept: int  # by the request before it
    cause: MissCause

    @property
    def lost(self) -> int:
        """What had to be read anew."""
        return self.kept - self.request.cache_read


class CacheUse(NamedTuple):
    """How a conversation used the provider's cache."""

    requests: tuple[ModelRequest, ...]
    misses: tuple[CacheMiss, ...]

    @property
    def is_cached(self) -> bool:
        """Whether any request has read or kept anything."""
        return any(each.cache_read or each.cache_write for each in self.requests)


def cache_use(requests: Sequence[ModelRequest]) -> CacheUse:
    """Return where the cache was missed."""
    misses = []
    for number, (before, now) in enumerate(pairwise(requests), start=2):
        kept = before.cache_read + before.cache_write
        if now.cache_read < kept:
            misses.append(CacheMiss(number, now, kept, _cause(before, now)))
    return CacheUse(tuple(requests), tuple(misses))


def _cause(before: ModelRequest, now: ModelRequest) -> MissCause:
    apart = (moment(now.at) or 0) - (moment(before.at) or 0)
    causes = (
        (now.model != before.model, MissCause.MODEL),
        (now.after_compaction, MissCause.COMPACTED),
        (apart > LONG_MS, MissCause.HOUR),
        (apart > SHORT_MS, MissCause.MINUTES),
        (now.version != before.version, MissCause.VERSION),
    )
    return next((cause for holds, cause in causes if holds), MissCause.UNKNOWN)
