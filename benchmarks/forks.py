"""F13, and the workspaces' half of F14: forks and views of a recorded state."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.forks_worker import CALLS
from benchmarks.measure import Sample, Timing

TIMES, FORK_MS, AGAIN_MS, CALL_MS = 0.02, 40, 5, 30
SMALL = 1_000  # files; below and at it, a fork is judged by its time alone
ROOT = Path(__file__).parents[1]
EDITS = "for f in $(git ls-files | head -n 10); do echo edited >>$f; done; echo new >untracked"
GIT = "git worktree add --detach"
NOTHING = Timing((Sample(0.0, 0.0),))


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        with bench.task("forks", files) as (workspace, env):
            bench.run([bench.siding, "run", "--", "sh", "-c", EDITS], cwd=workspace, env=env)
            rounds = bench.rounds({1_000: 9, 20_000: 5}.get(files, 3))
            told = _told(bench, env, files, rounds)
        yield from _rows(told, files)


def _told(bench: Bench, env: dict[str, str], files: int, rounds: int) -> dict[str, Timing]:
    told = bench.directory / "forks.json"
    worker: list[str | Path] = [bench.python, "-m", "benchmarks.forks_worker", "measured"]
    argv = [*worker, str(rounds), told]
    bench.run(argv, cwd=bench.repository(files), env={**env, "PYTHONPATH": str(ROOT)})
    found = json.loads(told.read_text(encoding="utf-8"))
    return {
        name: Timing(tuple(Sample(wall, cpu) for wall, cpu in each)) for name, each in found.items()
    }


def _rows(told: dict[str, Timing], files: int) -> Iterator[Row]:
    size, git = f"{files:,} files", told["git"]
    for name, case in (
        ("same", "fork of the state that a worktree waits in"),
        ("other", "fork of another state, 11 files differ"),
    ):
        if files <= SMALL:
            ours = told[name]
            yield Row(name, f"{case}, {size}", files, ours, NOTHING, "nothing", FORK_MS, Goal.OVER)
        else:
            yield Row(name, f"{case}, {size}", files, told[name], git, GIT, TIMES)
    yield Row("cp", f"fork, {size}", files, told["other"], told["cp"], "cp -r --reflink=auto")
    yield Row("drop", f"drop, {size}", files, told["drop"], told["git status"], "git status")
    yield Row("view", f"first view, {size}", files, told["view"], git, GIT)
    yield Row(
        *("again", f"view again, {size}", files, told["again"], NOTHING, "nothing"),
        *(AGAIN_MS, Goal.OVER),
    )
    yield Row(
        "return", f"return a view, {size}", files, told["return"], told["git status"], "git status"
    )
    for name, what in (("many", "fork"), ("readers", "view")):
        goal = CALL_MS if files <= SMALL else None
        ours, floor = _each(told[name]), _each(told["none"])
        case = f"a call with a {what}, 16 at a time, {size}"
        yield Row(name, case, files, ours, floor, "the same call without", goal, Goal.OVER)


def _each(batch: Timing) -> Timing:
    """Return what one call took, of batches of calls."""
    samples = (Sample(each.wall_ms / CALLS, each.cpu_ms / CALLS) for each in batch.samples)
    return Timing(tuple(samples))


FIGURE = Figure(
    title="forks and views",
    goal="a fork at most 0.02 times git's worktree, at 1,000 files 40 ms; a view again 5 ms; a "
    "call of 16 at a time 30 ms over one without a workspace, at 1,000 files",
    floor=f"{GIT} PATH, cp -r --reflink=auto, git status there, a call that does nothing",
    follows="a fork: what differs from the worktree that waits; drop and return: one git status",
    measure=_measure,
)
