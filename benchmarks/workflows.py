"""F9: what a workflow costs for each call of an agent, and for each that its record has."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, Timing
from benchmarks.workflows_worker import AT_ONCE, SHAPES

TIMES, REPLAY_MS = 3, 0.02
ROOT = Path(__file__).parents[1]
APPEND = "one flushed append"
NOTHING = Timing((Sample(0.0, 0.0),))


def _measure(bench: Bench) -> Iterator[Row]:
    for calls in bench.sizes(1_000, 10_000):
        told = _told(bench, calls, bench.rounds(3, quick=1))
        size = f"{calls:,} calls"
        for shape in SHAPES:
            case = f"a call, {shape}, {size}"
            yield Row(shape, case, calls, told[shape], told["append"], APPEND, TIMES)
        yield Row(
            *("replay", f"a call from the record, {size}", calls, told["replay"], NOTHING),
            *("nothing", REPLAY_MS, Goal.OVER),
        )


def _told(bench: Bench, calls: int, rounds: int) -> dict[str, Timing]:
    directory = bench.scratch(f"workflows-{calls}")
    told = directory / "told.json"
    argv: list[str | Path] = [bench.python, "-m", "benchmarks.workflows_worker"]
    argv += [str(calls), str(rounds), directory, told]
    bench.run(argv, cwd=directory, env={**bench.env, "PYTHONPATH": str(ROOT)})
    found = json.loads(told.read_text(encoding="utf-8"))
    return {name: Timing(tuple(Sample(*each) for each in taken)) for name, taken in found.items()}


FIGURE = Figure(
    title="workflows",
    goal=f"a call at most {TIMES} times a flushed append, {AT_ONCE} agents at once; "
    "50,000 calls a second from the record",
    floor="a line like those of the journal, appended and flushed as the ledger of a task is",
    follows="the calls; their lines are flushed together where they come together",
    measure=_measure,
)
