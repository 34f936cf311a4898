"""Opening a long task in the terminal: its patch, its steps, what it printed."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks import homes
from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, Timing
from benchmarks.sitting import Sitting

OPEN_MS = 300
STEPS = 1_000
_SETTLED_S = 0.3  # from one key to the next: what the first one began is done
_SCREEN = b"\x1b[?1003h"
_PRINTS = """
for n in range({}):
    print("line", n + 1, "of what it printed")
open("changed.txt", "w").write("changed\\n" * 100)
"""
_KEYS = {
    "patch": (b"\r", b"changed.txt", "enter: its patch"),
    "steps": (b"s", b"%04d", "s: its steps"),  # the number of the newest
    "output": (b"o", b"line 7 of", "o: its output"),
}


def _measure(bench: Bench) -> Iterator[Row]:
    few = _opened(bench, tasks=2, steps=10, lines=100)
    for number, lines in enumerate(bench.sizes(10_000, 100_000, 1_000_000)):
        found = _opened(bench, tasks=2 + number, steps=STEPS, lines=lines)
        for name, (_key, _shows, said) in _KEYS.items():
            case = f"{STEPS:,} steps, {lines:,} lines of output, {said}"
            yield Row(name, case, lines, found[name], few[name], "10 steps", OPEN_MS, Goal.P95)


def _opened(bench: Bench, *, tasks: int, steps: int, lines: int) -> dict[str, Timing]:
    """Return the times from a key to what it opens, each in a screen that has just begun."""
    home = homes.make(bench, tasks=tasks, steps=steps, active=steps - 1)
    script = bench.scratch(f"prints-{tasks}-{steps}") / "prints.py"  # its number is not shown
    script.write_text(_PRINTS.format(lines), encoding="utf-8")
    argv: list[str | Path] = [bench.siding, "run", "-q", "--", bench.python, script]
    bench.run(argv, cwd=home.repository, env=home.env)
    begun = Path(home.env["SIDING_HOME"]) / "terminal"
    begun.mkdir(exist_ok=True)
    (begun / "begun").touch()
    samples: dict[str, list[Sample]] = {name: [] for name in _KEYS}
    for number in range(bench.rounds(15, quick=3) + 1):
        with Sitting([str(bench.siding)], cwd=home.repository, env=home.env) as sitting:
            sitting.until(_SCREEN)
            sitting.seen = sitting.seen.partition(_SCREEN)[2]
            sitting.until(b"the real one")  # it is ready to apply, so the cursor is on it
            for name, (key, shows, _said) in _KEYS.items():
                sitting.watch(_SETTLED_S)
                took = sitting.timed_key(key, shows % steps if name == "steps" else shows)
                if number:  # the first screen made the hub, and read what nobody had read
                    samples[name].append(Sample(took, 0))
    return {name: Timing(tuple(each)) for name, each in samples.items()}


FIGURE = Figure(
    title="opening a task in the terminal",
    goal=f"from the key to what it opens at most {OPEN_MS} ms (p95), with {STEPS:,} steps and "
    "10,000 lines of output",
    floor="a task of 10 steps that printed 100 lines",
    follows="nothing here: an output is read on after its begin is shown",
    measure=_measure,
)
