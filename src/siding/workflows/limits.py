"""The limits of a run: how much it may do and spend, how often and when an agent is run again.

Calls reserve before they spend, so that many at once cannot overspend. A call reserves its own
limit: `max_tokens`, or the run's limit for an agent, or, if there is neither, its share of what is
left (as many parts as agents work at once). What it uses beyond that is taken from what nobody has
reserved, and reserved, too; when there is none, it is stopped.
"""

from collections.abc import Callable
from math import isnan

from siding.ground.namedtuples import NamedTuple
from siding.workflows.outcome import Dead, DeadReason, Used

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


# -- The budget: what is set aside, and what is used -----------------------------------------------


class Reservation(NamedTuple):
    """What is set aside for one call; None where there is no limit."""

    tokens: float | None
    dollars: float | None


class Account:
    """One kind of money: tokens or dollars. `total` is None if there is no limit."""

    def __init__(self, total: float | None, per_agent: float | None, concurrency: int) -> None:
        self.total = total
        self.spent = 0.0
        self._per_agent = per_agent
        self._concurrency = concurrency
        self._reserved = 0.0

    @property
    def free(self) -> float:
        """What is neither spent nor reserved."""
        assert self.total is not None
        return self.total - self.spent - self._reserved

    @property
    def is_spent(self) -> bool:
        """Whether all of it is spent."""
        return self.total is not None and self.spent >= self.total

    def wanted(self, own_limit: float | None) -> float | None:
        """Return what a call would set aside; None if there is no limit."""
        limit = own_limit if own_limit is not None else self._per_agent
        if self.total is None:
            return limit
        if limit is None:
            limit = max(1e-9, self.total - self.spent) / self._concurrency
        return min(limit, max(0.0, self.total - self.spent))

    def has(self, amount: float | None) -> bool:
        """Tell whether this much can be set aside now."""
        return self.total is None or amount is None or amount <= self.free + 1e-9

    def reserve(self, amount: float | None) -> None:
        """Set an amount aside."""
        self._reserved += amount or 0.0

    def settle(self, amount: float | None, used: float, *, is_last: bool) -> None:
        """Take back what was set aside, and count what was used.

        `is_last` says that nobody else has set anything aside. Sums of fractions are not exact: a
        rest of them would keep a call waiting that wants all that is left.
        """
        self._reserved = 0.0 if is_last else self._reserved - (amount or 0.0)
        self.spent += max(0.0, used)

    def covers(self, used: float, reserved: float | None) -> bool:
        """Tell whether a call may go on that has used this much and set that much aside."""
        if reserved is None or used <= reserved:
            return True
        return self.total is not None and used - reserved <= self.free

    def grown(self, used: float, reserved: float | None) -> float | None:
        """Set aside what a call has used beyond its reservation; return what it has now."""
        if reserved is None or used <= reserved:
            return reserved
        self.reserve(used - reserved)
        return used


class Budget:
    """The two accounts of a run."""

    def __init__(self, tokens: Account, dollars: Account) -> None:
        self.tokens = tokens
        self.dollars = dollars
        self._reservations = 0

    @property
    def is_spent(self) -> bool:
        """Whether no call may begin any more."""
        return self.tokens.is_spent or self.dollars.is_spent

    def try_reserve(self, max_tokens: int | None) -> Reservation | None:
        """Set aside what a call may use; None if that much is reserved by others now."""
        wanted = Reservation(
            tokens=self.tokens.wanted(max_tokens), dollars=self.dollars.wanted(None)
        )
        if not (self.tokens.has(wanted.tokens) and self.dollars.has(wanted.dollars)):
            return None
        self.tokens.reserve(wanted.tokens)
        self.dollars.reserve(wanted.dollars)
        self._reservations += 1
        return wanted

    def settle(self, reservation: Reservation, used: Used) -> None:
        """Take back what was set aside, and count what was used."""
        self._reservations -= 1
        is_last = not self._reservations
        self.tokens.settle(reservation.tokens, used.tokens, is_last=is_last)
        self.dollars.settle(reservation.dollars, used.dollars or 0.0, is_last=is_last)

    def extended(self, reservation: Reservation, used: Used) -> Reservation | None:
        """Return what a call has set aside that has used this much; None if it may not go on."""
        tokens, dollars = used.tokens, used.dollars or 0.0
        if not (
            self.tokens.covers(tokens, reservation.tokens)
            and self.dollars.covers(dollars, reservation.dollars)
        ):
            return None
        return Reservation(
            tokens=self.tokens.grown(tokens, reservation.tokens),
            dollars=self.dollars.grown(dollars, reservation.dollars),
        )
