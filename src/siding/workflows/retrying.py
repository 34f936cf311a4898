"""When an agent is run again, and how long is waited before."""

from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple
from siding.workflows.outcome import Dead, DeadReason

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
