"""The row that compares: the same cases for Siding and for the usual ways to go back."""

import json
import os
import sys
import time
from pathlib import Path

from prove.peers.losses import Loss, measure
from prove.row import DEADLINE_S, Outcome
from prove.supervise import no_longer_than, supervise

NAME = "peers"
PROVES = "going back and forth loses nothing; and what it loses done in the usual ways"
_HEAD = ("way", "lost", "not gone back", "writer lost", "kill lost")


def run(seed: int) -> Outcome:
    """Try every way in a process of its own, which may take as long as the tests of a row."""
    begun = time.monotonic()
    ended = supervise(
        [sys.executable, "-m", "prove.compared", str(seed)],
        cwd=Path(__file__).parents[1],
        env=os.environ,
        late=no_longer_than(DEADLINE_S),
    )
    if ended.status == 0:
        return Outcome(**json.loads(ended.said.splitlines()[-1]))
    why = ended.late or f"it ended with status {ended.status}"
    return Outcome(0, 0, time.monotonic() - begun, problem=f"{why}\n{ended.said}")


def compare(seed: int) -> Outcome:
    """Try every way; the cases of the row are Siding's."""
    begun = time.monotonic()
    losses = list(measure(seed))
    ours = losses[0]
    return Outcome(
        cases=ours.cases,
        passed=ours.cases - ours.lost,
        seconds=time.monotonic() - begun,
        note=f"and {sum(each.cases for each in losses[1:])} of {len(losses) - 1} other ways",
        problem="" if ours.lost == 0 else f"Siding lost: {ours}",
        details=_shown(losses),
    )


def _shown(losses: list[Loss]) -> str:
    rows = [
        (
            each.way,
            f"{len(each.quiet)}/{each.things}",
            f"{len(each.unreached)}/{each.things}",
            f"{each.written}/{each.tries}",
            f"{each.killed}/{each.tries}",
        )
        for each in losses
    ]
    lines = [_line(_HEAD), *(_line(row) for row in rows)]
    for each in losses:
        named = [f"{what}: {'; '.join(names)}" for what, names in each.named() if names]
        lines += [f"{each.way} - {one}" for one in named]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    return f"{cells[0]:<34}" + "".join(f"{cell:>15}" for cell in cells[1:])


if __name__ == "__main__":
    print(json.dumps(compare(int(sys.argv[1]))._asdict()))
