"""F12: what recording a state costs in a process that lives."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Sample, Timing

GOAL = 1.3
ROOT = Path(__file__).parents[1]
FLOOR = "git status, 10 files hashed"
CASES = {
    "edits": "10 edits recorded",
    "staged": "10 edits recorded, all of them staged",
    "nothing": "nothing changed, nothing written",
}


class _Told(NamedTuple):
    """What the worker printed."""

    ours: Timing
    floor: Timing
    note: str


def _measure(bench: Bench) -> Iterator[Row]:
    for files in bench.sizes(1_000, 20_000, 100_000):
        rounds = bench.rounds({1_000: 25, 20_000: 15}.get(files, 9))
        with bench.task("recording", files) as (workspace, env):
            for what, case in CASES.items():
                told = _worker(bench, what, workspace, env, rounds)
                yield Row(
                    what,
                    f"{case}, {files:,} files",
                    files,
                    told.ours,
                    told.floor,
                    FLOOR,
                    GOAL,
                    note=told.note,
                )


def _worker(bench: Bench, what: str, workspace: Path, env: dict[str, str], rounds: int) -> _Told:
    argv: list[str | Path] = [bench.python, "-m", "benchmarks.recording_worker", what]
    # In the workspace: it is a worktree of the repository, whose task is found by it.
    told = json.loads(
        bench.run(
            [*argv, workspace, str(rounds)], cwd=workspace, env={**env, "PYTHONPATH": str(ROOT)}
        )
    )
    ours, floor = (
        Timing(tuple(Sample(*each) for each in told[name])) for name in ("ours", "floor")
    )
    note = (
        f"{told['processes']} processes; HEAD, the index and the phases {told['git_state_ms']:.1f} "
        f"ms of it; {told['rss_mb']:.0f} MB"
    )
    return _Told(ours, floor, note)


FIGURE = Figure(
    title="a state recorded in a process that lives",
    goal="at most 1.3 times one look by git and the hashes of what changed; nothing written when "
    "nothing changed",
    floor="git status on a copy of the private index, with its settings, and SHA-1 of the 10 files",
    follows="the number of files, each looked at once; the files edited, each written once",
    measure=_measure,
)
