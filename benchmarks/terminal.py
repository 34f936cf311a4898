"""F16: from key to screen, what a person types all day."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import command, side_by_side
from benchmarks.repositories import name_of
from benchmarks.running import EDITED

OVER_MS = 60
RUN = 5
VERBS = {
    "status": ["status"],
    "log": ["log"],
    "diff --stat": ["diff", "--stat"],
    "task list": ["task", "list"],
}


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        with bench.task("terminal", files) as (workspace, env):
            yield from _one_size(bench, files, workspace, env)


def _one_size(bench: Bench, files: int, workspace: Path, env: dict[str, str]) -> Iterator[Row]:
    edit = "".join(f"echo edited >> {name_of(n * files // EDITED)}\n" for n in range(EDITED))
    bench.run([bench.siding, "run", "--", "sh", "-c", edit], cwd=workspace, env=env)
    rounds = bench.rounds({1_000: 25, 20_000: 15}.get(files, 9), quick=5)
    floor = command(["git", "status"], env=bench.env, cwd=workspace)
    runs = [command([bench.siding, *words], env=env, cwd=workspace) for words in VERBS.values()]
    *timings, status = side_by_side([*runs, floor], rounds=rounds, warm_ups=2)
    for verb, timing in zip(VERBS, timings, strict=True):
        case = f"{verb}, {files:,} files"
        yield Row(verb, case, files, timing, status, "git status", OVER_MS, Goal.OVER)
    ours = command([bench.siding, "run", "--", "true"], env=env, cwd=workspace)
    bare = command([bench.python, "-c", "pass"], env=env, cwd=workspace)
    recorded, interpreter = side_by_side([ours, bare], rounds=rounds, warm_ups=2)
    case = f"run -- true, {files:,} files"
    yield Row("run", case, files, recorded, interpreter, "python3 -c pass", RUN)


FIGURE = Figure(
    title="what is typed all day",
    goal="reading at most 60 ms over git status; run -- true at most 5 times a bare interpreter",
    floor="git status in the same workspace; python3 -c pass",
    follows="status: files, as git status. log, diff --stat, task list: nothing here. run: files",
    measure=_measure,
)
