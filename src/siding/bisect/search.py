"""Search for the first state in which something does not hold any more. Pure.

The states are numbered from 0, oldest first. It is not taken for granted that it holds in the first
and fails in the last: with `count` states there are `count + 1` answers, one for each state that
could be the first to fail, and "in none". Halving them takes at most `ceil(log2(count + 1))` looks.
A state that cannot be judged is skipped, and the one nearest to the middle is looked at instead.
"""

from collections.abc import Mapping
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Verdict(StrEnum):
    """What came of a look at a state."""

    HOLDS = "holds"
    FAILS = "fails"
    SKIPPED = "skipped"


class Suspects(NamedTuple):
    """Between which states it broke.

    `holds` is the newest one in which it is known to hold, -1 for none; `fails` the oldest one in
    which it is known to fail, the number of states for none. One of `holds + 1` to `fails` is the
    first to fail.
    """

    holds: int
    fails: int

    @property
    def is_answer(self) -> bool:
        return self.fails - self.holds == 1


def suspects(count: int, verdicts: Mapping[int, Verdict]) -> Suspects:
    """Return what is left after these verdicts. The oldest failure counts, and what held before."""
    fails = min((at for at, said in verdicts.items() if said is Verdict.FAILS), default=count)
    held = (at for at, said in verdicts.items() if said is Verdict.HOLDS and at < fails)
    return Suspects(max(held, default=-1), fails)


def next_look(count: int, verdicts: Mapping[int, Verdict]) -> int | None:
    """Return the state to look at next; None if there is none whose verdict would say more."""
    left = suspects(count, verdicts)
    middle = (left.holds + left.fails) // 2
    open_ones = [at for at in range(left.holds + 1, left.fails) if at not in verdicts]
    return min(open_ones, key=lambda at: (abs(at - middle), at), default=None)


def most_looks(count: int, verdicts: Mapping[int, Verdict]) -> int:
    """Return how many more looks it takes at most, if none of the states has to be skipped."""
    left = suspects(count, verdicts)
    return (left.fails - left.holds - 1).bit_length()
