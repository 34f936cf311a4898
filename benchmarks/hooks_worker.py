"""Ask the broker of a run from fresh processes and over an open connection, in turn.

A command of a run: ``hooks_worker.py ROUNDS FILE``. Writes the samples, elapsed and processor
milliseconds, as JSON into FILE. The processor time of a request itself is spent by the broker and
is not in it.
"""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from benchmarks.measure import Run, Sample, side_by_side, timed
from siding.ground.process.broker import client

EDITED = 10  # files
WARM_UPS = 2
HOOK = [sys.executable, "-S", "-E", "-I", client.__file__]
TURN = {"do": "checkpoint", "message": "a turn"}
VERDICT = {"do": "policy.check", "command": "git commit -m 'a message' && pytest -q"}


class Asking:
    """One connection that stays open, and the files that each turn edits."""

    def __init__(self) -> None:
        self._broker = client.connect(os.environ[client.VARIABLE])
        names = [path for path in Path.cwd().rglob("*.txt") if ".git" not in path.parts]
        self._files = [names[number * len(names) // EDITED] for number in range(EDITED)]

    def edit(self) -> None:
        """Add a line to each of the files."""
        for path in self._files:
            with path.open("a", encoding="utf-8") as file:
                file.write("edited\n")

    def ask(self, request: dict[str, str]) -> Sample:
        """Ask over the open connection."""
        begun = perf_counter_ns()
        answer = client.ask_line(self._broker, json.dumps(request).encode())
        wall_ms = (perf_counter_ns() - begun) / 1e6
        if not json.loads(answer)["ok"]:
            raise RuntimeError(answer.decode())
        return Sample(wall_ms=wall_ms, cpu_ms=0.0)


def main(rounds: int, told: Path) -> None:
    """Let the contenders take turns, and write down what they took."""
    asking = Asking()
    turn = partial(_edited, asking, partial(asking.ask, TURN))
    ways: dict[str, tuple[Run, Run]] = {
        "client": (partial(_edited, asking, partial(_process, [*HOOK, json.dumps(TURN)])), turn),
        "verb": (
            partial(_edited, asking, partial(_process, ["siding", "checkpoint", "-m", "a turn"])),
            turn,
        ),
        "verdict": (
            partial(_process, [*HOOK, json.dumps(VERDICT)]),
            partial(asking.ask, VERDICT),
        ),
    }
    found = {
        way: [
            [each[:2] for each in timing.samples]
            for timing in side_by_side(pair, rounds=rounds, warm_ups=WARM_UPS)
        ]
        for way, pair in ways.items()
    }
    told.write_text(json.dumps(found), encoding="utf-8")


def _edited(asking: Asking, measured: Callable[[], Sample]) -> Sample:
    asking.edit()
    return measured()


def _process(argv: list[str]) -> Sample:
    return timed(argv, env=os.environ, cwd=Path.cwd())


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
