"""Time as a port, so that everything below the composition root can be tested without waiting."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the rest of the program may ask of time."""

    def now(self) -> datetime:
        """Return the present moment, with an offset."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def iso(moment: datetime) -> str:
    """Return ISO 8601 with milliseconds and an offset, as every record carries it."""
    assert moment.tzinfo is not None, moment
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
