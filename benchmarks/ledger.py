"""F7: adding a step to a ledger, and reading its end."""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, Sample, command, side_by_side

APPEND = 1.5
ANCHORED = 3
TAIL = 2
BATCH = 50  # appends timed in one turn: a flush is short, and the clock of a turn is not
WORKER = Path(__file__).with_name("ledger_worker.py")


def _measure(bench: Bench) -> Iterator[Row]:
    directory = bench.scratch("ledgers")
    for steps in bench.sizes(10_000, 100_000, 1_000_000):
        path = directory / f"{steps}.jsonl"
        bench.say(f"making a ledger of {steps:,} steps")
        write_ledger(path, steps)
        yield from _appending(bench, path, steps)
        yield _tail(bench, path, steps)
        path.unlink()


def _appending(bench: Bench, path: Path, steps: int) -> Iterator[Row]:
    other = path.with_suffix(".anchored")  # else each of the two would find lines of the other
    shutil.copyfile(path, other)
    ours, anchored, floor = side_by_side(
        [
            _worker(bench, "append", path),
            _worker(bench, "anchored", other),
            _worker(bench, "floor", path.with_suffix(".plain")),
        ],
        rounds=bench.rounds(15, quick=5),
    )
    other.unlink()
    case = f"{BATCH} appends at {steps:,} steps"
    yield Row("append", case, steps, ours, floor, "write + fsync", APPEND)
    case = f"{BATCH} anchored appends at {steps:,} steps"
    yield Row("anchored append", case, steps, anchored, floor, "write + fsync", ANCHORED)


def _worker(bench: Bench, what: str, path: Path) -> Run:
    """Return a contender that appends, and tells how long the appends alone took."""

    def run() -> Sample:
        argv: list[str | Path] = [bench.python, WORKER, what, path, str(BATCH)]
        told = json.loads(bench.run(argv, cwd=bench.directory))
        return Sample(wall_ms=told["wall_ms"], cpu_ms=told["cpu_ms"])

    return run


def _tail(bench: Bench, path: Path, steps: int) -> Row:
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from siding.record.ledger.store import Ledger\n"
        "assert len(Ledger(Path(sys.argv[1])).tail(20)) == 20"
    )
    ours, floor = side_by_side(
        [
            command([bench.python, "-c", code, path], env=bench.env, cwd=bench.directory),
            command([bench.python, "-c", "pass"], env=bench.env, cwd=bench.directory),
        ],
        rounds=bench.rounds(25, quick=9),
        warm_ups=2,
    )
    case = f"last 20 of {steps:,} steps"
    return Row("tail", case, steps, ours, floor, "python3 -c pass", TAIL)


def write_ledger(path: Path, steps: int) -> None:
    """Write a ledger as the store would, line for line, without its flushes."""
    before = "0" * 64
    with path.open("wb", buffering=1 << 20) as file:
        for number in range(1, steps + 1):
            line = _line(number, before)
            before = sha256(line).hexdigest()
            file.write(line + b"\n")


def _line(number: int, before: str) -> bytes:
    return (
        f'{{"v":1,"step_id":"{number:04d}","kind":"run","started_at":"2026-01-02T03:04:05.678Z",'
        '"ended_at":"2026-01-02T03:04:06.789Z","diff_stat":{"files":1,"additions":3,'
        '"deletions":1,"file_list":["src/parser.py"]},"artifacts":{"patch":"artifacts/0001.patch",'
        '"output":"artifacts/0001.output"},"policy_events":[],"snapshot":"' + "a" * 40 + '",'
        '"parent":"' + "b" * 40 + '","coverage":{"complete":true},"session_id":null,'
        '"agent":"claude","usage":null,"cmd":["claude","-p","fix the parser"],"cwd":".",'
        f'"env":{{}},"status":"completed","exit_code":0,"duration_ms":1111,"prev":"{before}"}}'
    ).encode()


FIGURE = Figure(
    title="the ledger: append, flushed; the last 20 steps",
    goal="at most 1.5 times one write and one fsync, 3 times with the anchor; at most twice an "
    "empty process",
    floor="os.write + os.fsync of the same bytes into an open file; python3 -c pass",
    follows="nothing: neither may grow with the number of steps",
    measure=_measure,
)
