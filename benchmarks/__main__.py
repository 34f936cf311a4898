"""The benchmark suite: ratios to a floor or a peer, taken side by side in one run.

Everything is made under one temporary directory, on one file system, and removed at the end. The
verdicts are goals, not tests: the exit status is 0 whatever they are.
"""

import json
import shutil
import signal
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from benchmarks import machine, table
from benchmarks.bench import Bench
from benchmarks.figures import FIGURES, figure
from benchmarks.imports import print_imports

ROOM_GB = {True: 1, False: 8}  # by --quick; the largest repository is checked out three times


def main(words: list[str]) -> int:
    """Run the figures that are asked for and print their tables."""
    asked = _parser().parse_args(words)
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(143))  # clean up on the way
    base = Path(asked.dir or tempfile.gettempdir()).resolve()
    room_gb = shutil.disk_usage(base).free / 1e9
    if room_gb < ROOM_GB[asked.quick]:
        print(f"{base} has {room_gb:.1f} GB left; {ROOM_GB[asked.quick]} GB are needed (--dir)")
        return 1
    with tempfile.TemporaryDirectory(prefix="siding-bench-", dir=base) as directory:
        bench = Bench(Path(directory), quick=asked.quick, sizes=asked.sizes)
        if asked.imports:
            print_imports(bench)
            return 0
        _run(bench, asked, base)
    return 0


def _run(bench: Bench, asked: Namespace, base: Path) -> None:
    found = machine.facts(base)
    print(machine.shown(found))
    records: list[dict[str, Any]] = []
    for name in asked.only or FIGURES:
        begun = time.monotonic()
        one = figure(name)
        print(table.heading(name, one), flush=True)
        rows = []
        for row in one.measure(bench):
            rows.append(row)
            print(table.line(row), flush=True)
        print(table.curves(one, rows), flush=True)
        records.append(table.record(name, one, rows))
        bench.say(f"{name} took {time.monotonic() - begun:.0f} s")
        if asked.json:
            text = json.dumps({"machine": found, "quick": asked.quick, "figures": records})
            Path(asked.json).write_text(text + "\n", encoding="utf-8")
    print(f"\nload at the end {machine.facts(base)['load']}", flush=True)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python3 run.py bench",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=list(FIGURES), help="this figure (repeatable)"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds: a minute")
    parser.add_argument(
        "--sizes", type=int, choices=(1, 2, 3), default=3, help="how many of the three sizes"
    )
    parser.add_argument("--json", metavar="FILE", help="write every sample into FILE as well")
    parser.add_argument("--dir", help="where to work (default: the temporary directory)")
    parser.add_argument(
        "--imports", action="store_true", help="only show what the verbs import, and its price"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
