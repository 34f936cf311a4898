"""Anchored appends as a process of its own: a victim of test_anchor_faults.

    anchor_victim.py COUNT      in the case directory

Prints the number of lines once they are anchored.
"""

import sys
from pathlib import Path

from siding.record.ledger.anchor import AnchorKeeper, TaskIdentity
from siding.record.ledger.store import Ledger

LEDGER, HEAD = Path("ledger.jsonl"), Path("store/ledger-head")
TASK = TaskIdentity("abcd2345", "parser", "main", "c" * 40, "siding/parser-abcd2345")


def append(case: Path) -> int:
    """Append a line and anchor it; return the number of lines."""
    ledger = Ledger(case / LEDGER)
    keeper = AnchorKeeper(case / HEAD, case / LEDGER, task=lambda: TASK, say=sys.exit)
    step = ledger.append({"kind": "checkpoint"}, more=keeper.fields)
    keeper.put()
    return step.number


if __name__ == "__main__":
    for _ in range(int(sys.argv[1])):
        print(append(Path()), flush=True)
