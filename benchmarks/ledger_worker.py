"""Append steps to a ledger, or the same bytes to a plain file, and tell how long that took.

A process of its own for F7: ``python ledger_worker.py append|anchored|floor FILE COUNT``.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, process_time_ns

from siding.record.ledger.anchor import AnchorKeeper, TaskIdentity
from siding.record.ledger.store import Ledger

RECORD = {
    "kind": "run",
    "cmd": ["claude", "-p", "fix the parser"],
    "cwd": ".",
    "env": {},
    "started_at": "2026-01-02T03:04:05.678Z",
    "ended_at": "2026-01-02T03:04:06.789Z",
    "duration_ms": 1111,
    "exit_code": 0,
    "status": "completed",
    "diff_stat": {"files": 1, "additions": 3, "deletions": 1, "file_list": ["src/parser.py"]},
    "artifacts": {"patch": "artifacts/0001.patch", "output": "artifacts/0001.output"},
    "policy_events": [],
    "snapshot": "a" * 40,
    "parent": "b" * 40,
    "coverage": {"complete": True},
}


def main(what: str, path: Path, count: int) -> None:
    """Append `count` times and print the wall and processor time in milliseconds."""
    makers = {"append": _to_ledger, "anchored": _to_anchored, "floor": _to_plain_file}
    append = makers[what](path)
    append(0)  # opens and creates what is not there yet
    wall, cpu = perf_counter_ns(), process_time_ns()
    for number in range(1, count + 1):
        append(number)
    wall, cpu = perf_counter_ns() - wall, process_time_ns() - cpu
    print(json.dumps({"wall_ms": wall / 1e6, "cpu_ms": cpu / 1e6}))


def _to_ledger(path: Path) -> Callable[[int], object]:
    ledger = Ledger(path)
    last = ledger.last()
    first = last.number + 1 if last else 1
    return lambda number: ledger.append({"step_id": f"{first + number:04d}", **RECORD})


def _to_anchored(path: Path) -> Callable[[int], object]:
    ledger = Ledger(path)
    task = TaskIdentity("abcd2345", "parser", "main", "c" * 40, "siding/parser-abcd2345")
    anchor = AnchorKeeper(path.with_suffix(".head"), path, task=lambda: task, say=print)

    def append(_number: int) -> None:
        ledger.append(RECORD, more=anchor.fields)
        anchor.put()

    return append


def _to_plain_file(path: Path) -> Callable[[int], object]:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    line = json.dumps({"v": 1, "step_id": "0001", **RECORD, "prev": "c" * 64}).encode() + b"\n"

    def append(_number: int) -> None:
        os.write(fd, line)
        os.fsync(fd)

    return append


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
