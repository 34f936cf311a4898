"""The limits of a run: how much it may do, when an agent is run again, how long is waited."""

from collections.abc import Callable
from math import isnan

from siding.ground.namedtuples import NamedTuple
from siding.workflows.outcome import Dead, DeadReason

DEFAULT_CONCURRENCY = 3
MAX_CONCURRENCY = 16
MAX_AGENTS = 1000  # that one attempt of a run may really run
MAX_AGENT_ID = MAX_AGENTS - 1
_FIRST_WAIT_S = 2.0
_JITTER = 0.25
# Causes that another try seldom mends; the others have the run's limit.
_AT_MOST = {
    DeadReason.NO_STRUCTURED_OUTPUT: 1,
    DeadReason.INVALID_STRUCTURED_OUTPUT: 1,
    DeadReason.WORKTREE_FAILED: 1,
    DeadReason.PROMPT_TOO_LONG: 0,
    DeadReason.BUDGET: 0,
    DeadReason.BLOCKED: 0,
    DeadReason.KILLED: 0,
}


class Limits(NamedTuple):
    """How much a run may do. Tokens and dollars are None where there is no limit."""

    concurrency: int = DEFAULT_CONCURRENCY
    agents: int = MAX_AGENTS
    tokens: int | None = None
    dollars: float | None = None
    agent_tokens: int | None = None  # for one agent; None: its share of what is left
    agent_dollars: float | None = None


def clamp_max_concurrency(wanted: float | None) -> int:
    """Return how many agents work at once: 3 if nothing is wanted, else 1 to 16."""
    if wanted is None or isnan(wanted):
        return DEFAULT_CONCURRENCY
    return int(max(1, min(MAX_CONCURRENCY, wanted)))


class Retrying(NamedTuple):
    """How often an agent that gave no result is run again; `waits` is False for no pause before."""

    limit: int = 3
    waits: bool = True

    def limit_for(self, dead: Dead, own: int | None) -> int:
        """Return how many times a call is tried again after this; `own` is the call's own limit."""
        if not dead.retryable:
            return 0
        wanted = self.limit if own is None else max(0, own)
        return min(wanted, _AT_MOST.get(dead.reason, wanted))

    def wait_s(self, retry: int, random: Callable[[], float]) -> float:
        """Return the seconds before a retry (1 is the first): 2, 4, 8, … and up to a quarter more.

        `random` returns 0 to 1.
        """
        if not self.waits:
            return 0.0
        return float(_FIRST_WAIT_S * 2 ** (retry - 1) * (1 + _JITTER * random()))
