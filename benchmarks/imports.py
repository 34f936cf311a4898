"""A diagnosis beside the figures: what each verb imports, and what that costs.

Times are those of ``-X importtime``, which itself makes every import slower; they rank, and do not
add up to the time of a command.
"""

import subprocess
from statistics import median
from typing import NamedTuple

from benchmarks import homes
from benchmarks.bench import Bench

VERBS = (["--version"], ["status"], ["log"], ["task", "list"], ["run", "--", "true"])
SHOWN = 14
ROUNDS = 5


class Import(NamedTuple):
    """One module: the time of its own code, and with all that it imported first, in ms."""

    name: str
    own_ms: float
    all_ms: float


def print_imports(bench: Bench) -> None:
    """Print the heaviest imports of each verb."""
    home = homes.make(bench, tasks=10, steps=100)
    bare = {each.name for each in _imports(bench, home, None)}
    for words in VERBS:
        found = [each for each in _imports(bench, home, words) if each.name not in bare]
        total = sum(each.own_ms for each in found)
        print(f"\nsiding {' '.join(words)}: {len(found)} modules, {total:.1f} ms of their own")
        print(f"    {'own ms':>8} {'with all ms':>12}  module")
        for each in sorted(found, key=lambda each: -each.own_ms)[:SHOWN]:
            print(f"    {each.own_ms:8.2f} {each.all_ms:12.2f}  {each.name}")


def _imports(bench: Bench, home: homes.HomeOfMany, words: list[str] | None) -> list[Import]:
    """Return the imports of a command, medians over some runs; None is the bare interpreter."""
    program = ["-c", "pass"] if words is None else [str(bench.siding), *words]
    runs: list[dict[str, Import]] = []
    for _ in range(ROUNDS + 1):
        done = subprocess.run(
            [str(bench.python), "-X", "importtime", *program],
            cwd=home.repository,
            env=home.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append({each.name: each for each in map(_parsed, done.stderr.splitlines()) if each})
    return [
        Import(
            name=name,
            own_ms=median(run[name].own_ms for run in runs[1:] if name in run),
            all_ms=median(run[name].all_ms for run in runs[1:] if name in run),
        )
        for name in runs[-1]
    ]


def _parsed(text: str) -> Import | None:
    if not text.startswith("import time:") or "cumulative" in text:
        return None
    own, everything, name = text.removeprefix("import time:").split("|")
    return Import(name=name.strip(), own_ms=int(own) / 1e3, all_ms=int(everything) / 1e3)
