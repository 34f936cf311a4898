"""The memory of the screen over a day: the events of eight hours of ten agents, in some minutes.

``python -m benchmarks.replay --minutes 10`` prints the samples as well. Ten runs print, steps are
added to their ledgers by the store that runs use, and a person goes from place to place. The
number of lines, steps and keys is that of the day; only the time between them is shorter.
"""

import json
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks import homes
from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.dashboard import rss_mb
from benchmarks.measure import Sample, Timing
from benchmarks.sitting import Sitting
from siding.ground.ids import step_id
from siding.ground.storage.layout import ProjectLayout
from siding.record.ledger.store import Ledger

MEMORY_MB = 150
AGENTS, HOURS = 10, 8
LINES, STEPS, KEYS = 48_000, 960, 2_400  # of each agent: a step each 30 s; of the person
_SCREEN = b"\x1b[?1003h"
_TICK_S, _SLOW_S = 0.08, 0.5
_PRINTS = """
import time
begun, n = time.monotonic(), 0
while n < {lines}:
    while n < (time.monotonic() - begun) * {lines} / {seconds}:
        n += 1
        print("\\033[32mok\\033[0m line", n, "of an agent that tells how it gets on")
    time.sleep(0.05)
time.sleep(3600)
"""
# What a person does over and over: the list, a task with its tabs, a search, the keys, the palette.
_PERSON = [
    *(b"j", b"j", b"k", b"\r", b"o", b"G", b"g", b"g", b"/", b"line 7", b"\r", b"n", b"n"),
    *(b"s", b"j", b"j", b"p", b"j", b"j", b"o", b"\x1b[6~", b"\x1b[5~", b"g", b"h"),
    *(b"?", b"\x1b", b"\x10", b"agent", b"\x1b", b".", b"z", b"z", b"j", b"j", b"k"),
]


class Replayed(NamedTuple):
    """The memory of the screen, by seconds since it was there, and what was done meanwhile."""

    samples: list[tuple[float, float]]
    steps: int
    keys: int

    @property
    def most_mb(self) -> float:
        return max(memory for _at, memory in self.samples)

    @property
    def slope_mb(self) -> float:
        """What it grew by over the last half, by the line of least squares."""
        half = self.samples[len(self.samples) // 2 :]
        middle = sum(at for at, _ in half) / len(half)
        mean = sum(memory for _, memory in half) / len(half)
        above = sum((at - middle) * (memory - mean) for at, memory in half)
        below = sum((at - middle) ** 2 for at, _ in half)
        return above / below * (half[-1][0] - half[0][0]) if below else 0.0


def _measure(bench: Bench) -> Iterator[Row]:
    minutes = 1 if bench.quick else 10
    found = replay(bench, minutes)
    memory = Timing(tuple(Sample(0, 0, each) for _at, each in found.samples))
    case = f"{HOURS} h of {AGENTS} agents in {minutes} min"
    yield Row(
        "replay", case, minutes, memory, memory, "itself", MEMORY_MB, Goal.MEMORY, told(found)
    )


def told(found: Replayed) -> str:
    """Return what was done, and the memory of the screen, as a sentence."""
    return (
        f"{found.steps:,} steps, {AGENTS * LINES:,} lines, {found.keys:,} keys; at most "
        f"{found.most_mb:.0f} MB, {found.slope_mb:+.1f} MB over the last half of it"
    )


def replay(bench: Bench, minutes: float) -> Replayed:
    """Carry a day out in so many minutes."""
    seconds = minutes * 60
    repository, env = bench.repository(homes.FILES), bench.home("replay")
    for number in range(AGENTS):
        words: list[str | Path] = [bench.siding, "run", "-q", "--new", f"agent{number}"]
        bench.run([*words, "--", "sh", "-c", "echo x >> made"], cwd=repository, env=env)
    (root,) = (Path(env["SIDING_HOME"]) / "projects").iterdir()
    ledgers = [_Agent(path) for path in ProjectLayout(root).root.glob("tasks/*/ledger.jsonl")]
    assert len(ledgers) == AGENTS
    begun = Path(env["SIDING_HOME"]) / "terminal"
    begun.mkdir(exist_ok=True)
    (begun / "begun").touch()
    script = _PRINTS.format(lines=LINES, seconds=seconds)
    for number in range(AGENTS):
        words = [bench.siding, "run", "-q", "--detach", "-t", f"agent{number}", "--"]
        bench.run([*words, bench.python, "-u", "-c", script], cwd=repository, env=env)
    try:
        with (
            patch.object(os, "fsync"),
            Sitting([str(bench.siding)], cwd=repository, env=env) as sitting,
        ):
            sitting.until(_SCREEN)
            return _played(sitting, ledgers, seconds)
    finally:
        bench.run([bench.siding, "stop", "--all", "--now"], cwd=repository, env=env)


class _Agent:
    """A ledger that grows by steps like its last one."""

    def __init__(self, path: Path) -> None:
        *_others, last = path.read_text(encoding="utf-8").splitlines()
        self._pattern: dict[str, Any] = json.loads(last)
        self._ledger = Ledger(path)
        self._number = int(self._pattern["step_id"].removeprefix("s") or 0)

    def step(self) -> None:
        self._number += 1
        self._ledger.append({**self._pattern, "step_id": step_id(self._number)})


def _played(sitting: Sitting, agents: Sequence[_Agent], seconds: float) -> Replayed:
    samples: list[tuple[float, float]] = []
    steps = keys = 0
    person = cycle(_PERSON)
    begun = monotonic()
    while (at := monotonic() - begun) < seconds:
        while steps < at / seconds * STEPS * len(agents):
            agents[steps % len(agents)].step()
            steps += 1
        if keys < at / seconds * KEYS:
            key = next(person)
            sitting.press(key)
            keys += 1
            # What opens is there before it is left; an escape is one only if nothing follows soon.
            sitting.watch(_SLOW_S if key in (b"?", b"\x10", b"/", b"\x1b") else _TICK_S)
        else:
            sitting.watch(_TICK_S)
        samples.append((at, rss_mb(sitting.process.pid)))
    return Replayed(samples, steps, keys)


def main(words: Sequence[str]) -> int:
    """Replay a day and print the memory of the screen; 1 if it was more than the goal."""
    parser = ArgumentParser(prog="python -m benchmarks.replay", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--dir", help="where to work (default: the temporary directory)")
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="siding-replay-", dir=asked.dir) as directory:
        found = replay(Bench(Path(directory), quick=False), asked.minutes)
    for at, memory in found.samples[:: max(1, len(found.samples) // 40)]:
        print(f"{at:7.0f} s {memory:7.1f} MB")
    print(told(found))
    return int(found.most_mb > MEMORY_MB)


FIGURE = Figure(
    title="the memory of the terminal over a day",
    goal=f"at most {MEMORY_MB} MB, and flat, over {HOURS} h of {AGENTS} agents",
    floor="none: the figure is the memory",
    follows="nothing: what is not on the screen is not kept",
    measure=_measure,
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
