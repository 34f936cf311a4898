"""One row of the table: what is proven, and what came out."""

from collections.abc import Mapping
from typing import NamedTuple

DEADLINE_S = 900.0  # a row takes two minutes at most on a quiet machine, and CI has no hour for one


class Row(NamedTuple):
    """Tests of the project that are one proof.

    `select`, `leave_out` and `ignore` are pytest's: paths or ids, words of names that do not belong
    to the proof, and paths below `select` that another row has. `variables` make the tests try more
    than in the suite. `draws` tells that a seed decides about the cases. Tests that take longer
    than `deadline_s` seconds are killed, and the row has failed. One that `has_parts` may be tried
    a part at a time.
    """

    proves: str
    select: tuple[str, ...]
    leave_out: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    draws: bool = True
    deadline_s: float = DEADLINE_S
    has_parts: bool = False


class Outcome(NamedTuple):
    """What a row came to. `problem` says why it failed, "" if it did not;
    `details` are shown below the row."""

    cases: int
    passed: int
    seconds: float
    note: str = ""
    problem: str = ""
    details: str = ""

    @property
    def holds(self) -> bool:
        return not self.problem and self.passed == self.cases > 0
