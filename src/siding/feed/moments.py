"""Times of records as moments: their UTC offsets can differ, so they are not compared as text."""

from datetime import UTC, datetime


def moment_of(text: str) -> float:
    """Return an ISO 8601 time as seconds since 1970; 0 if it is none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
