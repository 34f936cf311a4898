"""What a hook of an agent adds to a turn: a process that asks the broker of its run."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, Timing

OVER_MS = 30
ROOT = Path(__file__).parents[1]
WAYS = {
    "client": "a turn of 10 edits by a hook",
    "verb": "a turn of 10 edits by siding checkpoint",
    "verdict": "policy check by a hook",
}


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        with bench.task("hooks", files) as (workspace, env):
            rounds = bench.rounds({1_000: 25, 20_000: 15}.get(files, 9))
            told = _in_a_run(bench, workspace, env, rounds)
        for way, case in WAYS.items():
            ours, floor = (
                Timing(tuple(Sample(wall, cpu) for wall, cpu in each)) for each in told[way]
            )
            goal = None if way == "verb" else OVER_MS
            yield Row(
                way,
                f"{case}, {files:,} files",
                files,
                ours,
                floor,
                "the same request by a process that lives",
                goal,
                Goal.OVER,
            )


def _in_a_run(
    bench: Bench, workspace: Path, env: dict[str, str], rounds: int
) -> dict[str, list[list[list[float]]]]:
    """Measure in a run of the task, as its hooks do; return the samples of each way."""
    told = bench.directory / "hooks.json"
    worker: list[str | Path] = [bench.python, "-m", "benchmarks.hooks_worker", str(rounds), told]
    argv: list[str | Path] = [bench.siding, "run", "--", "env", f"PYTHONPATH={ROOT}", *worker]
    bench.run(argv, cwd=workspace, env=env)
    found = json.loads(told.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


FIGURE = Figure(
    title="a hook's round trip",
    goal="at most 30 ms over the same request from a process that lives",
    floor="the same request over a connection that is open",
    follows="nothing: what a fresh process costs. The requests themselves are F12",
    measure=_measure,
)
