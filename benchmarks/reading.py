"""F2: reading commands in a project of many tasks and steps."""

import shutil
from collections.abc import Iterator
from functools import partial

from benchmarks import homes
from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import command, side_by_side

GOAL = 5
STEPS_PER_TASK = 10
LONG = 1_000  # steps of one task: what reads its whole ledger shows here
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
    yield from _long_ledger(bench)


def _long_ledger(bench: Bench) -> Iterator[Row]:
    """Time what reads the ledger of one task, which is long, beside few others."""
    tasks = 10
    bench.say(f"making a task of {LONG:,} steps")
    home = homes.make(bench, tasks=tasks, steps=LONG + (tasks - 1) * STEPS_PER_TASK, active=LONG)
    verbs = ("status", "log")
    runs = [
        command([bench.siding, *VERBS[verb]], env=home.env, cwd=home.repository) for verb in verbs
    ]
    floor = command([bench.python, "-c", "pass"], env=home.env, cwd=home.repository)
    *timings, bare = side_by_side([*runs, floor], rounds=bench.rounds(25, quick=7), warm_ups=2)
    for verb, timing in zip(verbs, timings, strict=True):
        case = f"{verb}, {LONG:,} steps in the task"
        yield Row(f"{verb} of a long task", case, LONG, timing, bare, "python3 -c pass", GOAL)


FIGURE = Figure(
    title="status, log, task list",
    goal="at most 5 times a bare interpreter, and no step that grows with the number of steps",
    floor="python3 -c pass",
    follows="the number of tasks where tasks are listed or their registry is read; never of steps",
    measure=_measure,
)
