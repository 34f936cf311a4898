"""Which cases of a long table a row of `run.py prove` tries: a share of them, drawn by the seed.

A row says its share in SIDING_PROVE_SHARE; with SIDING_FAULTS=every, all are tried. A test of
which there are few cases has them all tried.
"""

import math
import os
import random
from collections.abc import Sequence
from typing import Protocol, TypeVar
from zlib import crc32

FEW = 3  # cases of one test

PART = os.environ.get("SIDING_PROVE_PART", "1/1")
SHARE = float(os.environ.get("SIDING_PROVE_SHARE", "1"))


class Named(Protocol):
    """A test, as pytest collects it."""

    @property
    def nodeid(self) -> str: ...


T = TypeVar("T", bound=Named)


def part(items: Sequence[T], named: str = PART) -> list[T]:
    """Return the tests of one part of all, ``2/3``, by their names: the parts do not overlap."""
    number, count = map(int, named.split("/"))
    return [item for item in items if crc32(item.nodeid.encode()) % count == number - 1]


def drawn(items: Sequence[T], share: float = SHARE) -> list[T]:
    """Return the tests that are tried, in their order."""
    if share >= 1 or os.environ.get("SIDING_FAULTS") == "every":
        return list(items)
    tables: dict[str, list[str]] = {}
    for item in items:
        tables.setdefault(item.nodeid.partition("[")[0], []).append(item.nodeid)
    taken = {nodeid for cases in tables.values() for nodeid in _some(cases, share)}
    return [item for item in items if item.nodeid in taken]


def _some(cases: Sequence[str], share: float) -> Sequence[str]:
    if len(cases) <= FEW:
        return cases
    seed = os.environ.get("SIDING_FAULTS_SEED", "0")
    # The name of the test as well, so that tables of the same commands do not draw the same ones.
    chance = random.Random(f"{seed} {cases[0]}")
    return chance.sample(sorted(cases), max(FEW, math.ceil(len(cases) * share)))
