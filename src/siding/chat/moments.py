"""How long it is until a moment that an agent has named."""

from datetime import UTC, datetime


def seconds_until(moment: str, now: datetime) -> float:
    """Return how long it is until an ISO 8601 moment; 0 if it is over, or is no moment."""
    try:
        until = datetime.fromisoformat(moment)
    except ValueError:
        return 0.0
    until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())
