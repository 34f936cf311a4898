"""The verdicts of lines that are short to write and long to judge."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import command, side_by_side

GOAL = 10.0
ROOT = Path(__file__).parents[1]
# One line of each kind that once took seconds, and one ordinary script of 10,000 characters.
LINES = {
    "a value that doubles": "x=a;" + "x=$x$x;" * 200,
    "parentheses": "(" * 9_900,
    "eval of eval": "eval " * 1_980,
    "braces": "echo " + "{" * 4_900 + "}" * 4_900,
    "commands": "a;" * 4_950,
    "arguments": "git add " + "a " * 1_900,
    "loops in loops": "while a; do " * 30 + "x=1;" * 2_300 + "done;" * 30,
    "substitutions": "cat " + "<(a) " * 1_970,
    "Python": "python3 -c '" + "f({x})+" * 1_400 + "x'",
    "an ordinary script": 'if [ -e "$a" ]; then\n  grep -n b "$a" | head -n 3\nfi\n' * 190,
}


def _measure(bench: Bench) -> Iterator[Row]:
    floor = command([bench.python, "-c", "pass"], env=bench.env, cwd=ROOT)
    env = {**bench.env, "PYTHONPATH": str(ROOT)}
    for name, line in LINES.items():
        worker: list[str | Path] = [bench.python, "-m", "benchmarks.verdicts_worker", line]
        ours, bare = side_by_side(
            [command(worker, env=env, cwd=ROOT), floor], rounds=bench.rounds(20, quick=5)
        )
        yield Row(
            name,
            f"{len(line):,} characters: {name}",
            len(line),
            ours,
            bare,
            "python3 -c pass",
            GOAL,
            note=f"{ours.cpu_ms - bare.cpu_ms:.0f} ms of CPU more, {ours.rss_mb:.0f} MB",
        )


FIGURE = Figure(
    title="the verdict of a costly line",
    goal=f"at most {GOAL:g} times a bare interpreter, the import of the policy included",
    floor="python3 -c pass",
    follows="the work a verdict may take, which is bounded, and not the line",
    measure=_measure,
)
