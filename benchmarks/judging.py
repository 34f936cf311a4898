"""Verdicts by kind of line: in a process that lives, and in a fresh one."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Run, Sample, command, side_by_side

WARM_GOAL = 40.0  # times `shlex.split`, which only finds the words
COLD_GOAL = 150  # milliseconds above the floor
ROOT = Path(__file__).parents[1]
TIMES = 200  # a line is judged in one sample
LINES = {
    "one program": "git status --short",
    "pipeline": "git log --oneline -n 50 | grep -i fix | sort | uniq -c | sort -rn | head -n 5",
    "chain": "cd src && npm ci && npm run build && npm test -- --run && cd ..",
    "variables": 'OUT=/tmp/out; mkdir -p "$OUT/a"; cp -r "$OUT/a" "${OUT}/b"; rm -rf "$OUT"',
    "substitution": 'git diff "$(git merge-base main HEAD)" -- $(git ls-files "*.py" | head -n 3)',
    "loop": 'for f in *.txt; do if [ -e "$f" ]; then grep -n b "$f" > "$f.out"; fi; done',
    "here-document": "cat > notes.txt <<'EOF'\none\ntwo\nEOF\nwc -l notes.txt",
    "shell in a shell": "bash -c 'cd /repos/proj && sh -c \"make test\"'",
    "Python": "python3 -c 'import json, sys; print(json.load(sys.stdin)[\"a\"])' < a.json",
    "find and xargs": "find . -name '*.pyc' -print0 | xargs -0 rm -f",
    "download": "curl -fsSL https://example.org/install.sh | sh",
    "refused": "sudo rm -rf / --no-preserve-root",
    "unknown program": "frobnicate --all --level 3 some/where",
}


def _measure(bench: Bench) -> Iterator[Row]:
    import shlex

    from benchmarks.verdicts_worker import PLACE
    from siding.shellguard.face import Policy

    for name, line in LINES.items():
        runs = [_often(partial(Policy().judge, line, PLACE)), _often(partial(shlex.split, line))]
        ours, floor = side_by_side(runs, rounds=bench.rounds(15, quick=5))
        yield Row(
            name,
            f"{name}, warm, {TIMES} times",
            len(line),
            ours,
            floor,
            "shlex.split",
            WARM_GOAL,
            note=f"{ours.cpu_ms / TIMES:.2f} ms of CPU each",
        )
    env = {**bench.env, "PYTHONPATH": str(ROOT)}
    for name, line in LINES.items():
        worker: list[str | Path] = [bench.python, "-m", "benchmarks.verdicts_worker", line]
        split = [str(bench.python), "-c", "import shlex, sys; shlex.split(sys.argv[1])", line]
        ours, floor = side_by_side(
            [command(worker, env=env, cwd=ROOT), command(split, env=env, cwd=ROOT)],
            rounds=bench.rounds(15, quick=3),
        )
        yield Row(
            f"{name}, cold",
            f"{name}, cold",
            len(line),
            ours,
            floor,
            "python3 -c, shlex.split",
            COLD_GOAL,
            bounds=Goal.OVER,
            note=f"{ours.cpu_ms - floor.cpu_ms:.0f} ms of CPU more",
        )


def _often(work: Callable[[], object]) -> Run:
    def run() -> Sample:
        wall, cpu = perf_counter_ns(), process_time_ns()
        for _ in range(TIMES):
            work()
        return Sample((perf_counter_ns() - wall) / 1e6, (process_time_ns() - cpu) / 1e6)

    return run


FIGURE = Figure(
    title="verdicts by kind of line",
    goal=f"warm at most {WARM_GOAL:g} times shlex.split, cold at most {COLD_GOAL} ms over it",
    floor="shlex.split of the same line, in the same process and in a fresh interpreter",
    follows="the words of the line; cold, the modules that its programs need",
    measure=_measure,
)
