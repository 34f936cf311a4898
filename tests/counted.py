"""How many cases a test tried, where one test tries many: `run.py prove` adds them up.

`conftest.py` puts what was counted into the report of the test.
"""

from typing import NamedTuple


class Counted(NamedTuple):
    """Cases that ran and that failed; `acts` are the moves of random walks."""

    cases: int = 0
    failed: int = 0
    acts: int = 0


_now = Counted()


def add(cases: int = 0, *, failed: int = 0, acts: int = 0) -> None:
    """Add to what the running test has counted so far."""
    global _now
    _now = Counted(_now.cases + cases, _now.failed + failed, _now.acts + acts)


def taken() -> Counted:
    """Return what was counted since the last call."""
    global _now
    counted, _now = _now, Counted()
    return counted
