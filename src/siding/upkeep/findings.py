"""What the doctor finds, and what became of it."""

from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple


class Finding(NamedTuple):
    """One inconsistency. `mend` repairs it and returns what it did; None: a person has to
    decide."""

    what: str
    advice: str
    mend: Callable[[], str] | None = None


class Mended(NamedTuple):
    """A finding with the result of its repair."""

    finding: Finding
    done: str | None  # None: nothing was done
    failed: str | None
