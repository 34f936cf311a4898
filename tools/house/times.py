"""What commands take, beside a bare interpreter: alternated in one run, the least of all rounds."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from tools.house.scratch import Scratch

VERBS = (("run", "--", "true"), ("status",), ("log",), ("apply", "--no-close"))
BARE = "python -c pass"


class Time(NamedTuple):
    """The least that a command took, in milliseconds; `place` is the source it was of."""

    place: str
    command: str
    least_ms: float


def times(scratches: Sequence[Scratch], *, rounds: int) -> list[Time]:
    """Measure the commands in each scratch repository, in another order in each round."""
    measured = list(_cases(scratches))
    least = [float("inf")] * len(measured)
    order = list(range(len(measured)))
    random = Random(0)
    for _ in range(rounds + 1):  # the first one warms up, and counts as well: only the least does
        random.shuffle(order)
        for at in order:
            least[at] = min(least[at], measured[at][2]())
    return [
        Time(place, command, took)
        for (place, command, _), took in zip(measured, least, strict=True)
    ]


def _cases(scratches: Sequence[Scratch]) -> Iterator[tuple[str, str, Callable[[], float]]]:
    first = scratches[0]
    yield "", BARE, lambda: _timed(first, [sys.executable, "-c", "pass"])
    for scratch in scratches:
        for words in VERBS:
            yield str(scratch.source), " ".join(words), _case(scratch, words)


def _case(scratch: Scratch, words: tuple[str, ...]) -> Callable[[], float]:
    argv = scratch.argv(words)

    def take() -> float:
        if words[0] == "apply":
            scratch.edit()
        return _timed(scratch, argv)

    return take


def _timed(scratch: Scratch, argv: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        argv,
        cwd=scratch.repository,
        env=scratch.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return (time.perf_counter() - began) * 1000
