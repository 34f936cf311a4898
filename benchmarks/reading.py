"""F2: reading commands in a project of many tasks and steps."""

import shutil
from collections.abc import Iterator
from functools import partial

from benchmarks import homes
from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import command, side_by_side

GOAL = 5
STEPS_PER_TASK = 10
VERBS = {
    "status": ["status"],
    "log": ["log"],
    "task list": ["task", "list"],
}


def _measure(bench: Bench) -> Iterator[Row]:
    for steps in bench.sizes(100, 1_000, 10_000, quick=2):
        tasks = steps // STEPS_PER_TASK
        bench.say(f"making a home of {tasks:,} tasks and {steps:,} steps")
        home = homes.make(bench, tasks=tasks, steps=steps)
        floor = command([bench.python, "-c", "pass"], env=home.env, cwd=home.repository)
        runs = [
            command([bench.siding, *words], env=home.env, cwd=home.repository)
            for words in VERBS.values()
        ]
        cache = home.layout.root / "cache"
        cold = command(
            [bench.siding, "task", "list"],
            env=home.env,
            cwd=home.repository,
            before=partial(shutil.rmtree, cache, ignore_errors=True),
        )
        rounds = bench.rounds(25, quick=7)
        *timings, bare = side_by_side([*runs, floor], rounds=rounds, warm_ups=2)
        size = f"{tasks:,} tasks, {steps:,} steps"
        for verb, timing in zip(VERBS, timings, strict=True):
            yield Row(verb, f"{verb}, {size}", steps, timing, bare, "python3 -c pass", GOAL)
        rebuilt, bare = side_by_side([cold, floor], rounds=bench.rounds(7), warm_ups=1)
        case = f"task list after its cache was deleted, {size}"
        yield Row("task list rebuilt", case, steps, rebuilt, bare, "python3 -c pass")


FIGURE = Figure(
    title="status, log, task list",
    goal="at most 5 times a bare interpreter, and no step that grows with the number of steps",
    floor="python3 -c pass",
    follows="the number of tasks where tasks are listed or their registry is read; never of steps",
    measure=_measure,
)
