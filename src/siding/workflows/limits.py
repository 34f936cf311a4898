"""The limits of a run."""

from math import isnan

from siding.ground.namedtuples import NamedTuple

DEFAULT_CONCURRENCY = 3
MAX_CONCURRENCY = 16
MAX_AGENTS = 1000  # that one attempt of a run may really run
MAX_AGENT_ID = MAX_AGENTS - 1


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
