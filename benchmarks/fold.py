"""The fold: one look at the tasks of ten projects, and one more after something was touched."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

from benchmarks import homes, repositories
from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, Sample, side_by_side
from siding.ground.storage.layout import ProjectLayout
from siding.record.tasks.store import TaskStore

PROJECTS, FILES = 10, 10
ANEW, AFTER_ONE, AT_REST = 12.0, 0.5, 0.3
WORKER = Path(__file__).with_name("fold_worker.py")
FLOOR = "stat and listdir of the same files"


def _measure(bench: Bench) -> Iterator[Row]:
    for tasks in bench.sizes(100, 300, 1000):
        bench.say(f"making {tasks:,} tasks in {PROJECTS} projects")
        env = _home(bench, tasks)
        wanted = (("feed", 10), ("look", 200), ("rest", 200), ("floor", 20))
        anew, one, rest, floor = side_by_side(
            [_worker(bench, env, what, count) for what, count in wanted],
            rounds=bench.rounds(11, quick=5),
        )
        of = f"{tasks:,} tasks in {PROJECTS} projects"
        yield Row("feed_of", f"{of}, a new fold", tasks, anew, floor, FLOOR, ANEW)
        yield Row("one", f"{of}, one touched", tasks, one, floor, FLOOR, AFTER_ONE)
        yield Row("rest", f"{of}, none touched", tasks, rest, floor, FLOOR, AT_REST)


def _home(bench: Bench, tasks: int) -> dict[str, str]:
    """Return the environment of a home with so many tasks at rest, each with a run."""
    env, directory = bench.home(f"fold-home-{tasks}"), bench.scratch(f"fold-{tasks}")
    for number in range(PROJECTS):
        repository = directory / f"repository{number}"
        repositories.make(repository, files=FILES, env=env)
        for words in (["task", "start", "real"], ["run", "--", "sh", "-c", "echo 1 >new"]):
            bench.run([bench.siding, *words], cwd=repository, env=env)
    with patch.object(os, "fsync"):  # what is measured only reads
        for root in (Path(env["SIDING_HOME"]) / "projects").iterdir():
            layout, each = ProjectLayout(root), tasks // PROJECTS
            (real,) = TaskStore(layout).ids()
            homes.fill(layout, real, tasks=each, steps=each, long=1)
    return env


def _worker(bench: Bench, env: Mapping[str, str], what: str, count: int) -> Run:
    """Return a contender that tells how long one of its looks took."""

    def run() -> Sample:
        argv: list[str | Path] = [bench.python, WORKER, what, str(count)]
        told = json.loads(bench.run(argv, cwd=bench.directory, env=env))
        return Sample(wall_ms=told["wall_ms"], cpu_ms=told["cpu_ms"])

    return run


FIGURE = Figure(
    title="the fold of the feed, when all its figures are known",
    goal=f"a new look at most {ANEW:g} times a listing of its files; {AFTER_ONE:g} times after one "
    f"task was touched, {AT_REST:g} after none",
    floor="os.stat of each task's document and ledger, os.listdir of its runs and intents",
    follows="a new look: the tasks; a look again: what was touched, and the rows that are sorted",
    measure=_measure,
)
