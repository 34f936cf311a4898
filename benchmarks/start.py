"""F1: what it costs to start at all."""

from collections.abc import Iterator

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import command, side_by_side

GOAL = 1.6


def _measure(bench: Bench) -> Iterator[Row]:
    cwd = bench.directory
    floor = command([bench.python, "-c", "pass"], env=bench.env, cwd=cwd)
    version = command([bench.siding, "--version"], env=bench.env, cwd=cwd)
    overview = command([bench.siding, "--help"], env=bench.env, cwd=cwd)
    ours, page, bare = side_by_side(
        [version, overview, floor], rounds=bench.rounds(60, quick=15), warm_ups=2
    )
    yield Row("--version", "--version", 1, ours, bare, "python3 -c pass", GOAL)
    yield Row("--help", "--help", 1, page, bare, "python3 -c pass")


FIGURE = Figure(
    title="siding --version",
    goal="at most 1.6 times a bare interpreter",
    floor="python3 -c pass, with the interpreter that the installed script names",
    follows="nothing: there is no size. What an import costs shows here first",
    measure=_measure,
)
