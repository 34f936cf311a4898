"""What retention has to know of the turns beside a branch: they lie in the store of snapshots, too.

Of the turns that are older than the age that was asked for both snapshots may go, but for one that
a younger turn, or one that has not ended, names as well, and for the newest of a checkout: the next
one is compared with it.
"""

from collections.abc import Iterator
from datetime import datetime

from siding.app.life.recorded_tasks import RecordedTask
from siding.app.place.project import Project
from siding.app.recording.beside import BesideTurn, checkout_ids, journal_of, turns_in
from siding.git.snapshots.lineage import base_snapshots
from siding.hashing import sha256_hex
from siding.ids import TaskId
from siding.namedtuples import NamedTuple

CHECKOUT = "checkout"  # in the place of the state of a task


class RecordedCheckout(NamedTuple):
    """The turns in one checkout, oldest first. `record` is what a task would have in its place."""

    record: RecordedTask
    turns: tuple[BesideTurn, ...]

    def freeable(self, before: datetime) -> dict[str, tuple[str, ...]]:
        """Return the snapshots that may be freed, each with the numbers of its turns."""
        old = [each for each in self.turns if each.after and _is_older(each, before)]
        stays = {sha for each in self.turns if each not in old for sha in _snapshots(each)}
        stays |= {sha for sha in self.record.named if sha}
        found: dict[str, list[str]] = {}
        for turn in old:
            for sha in _snapshots(turn):
                if sha not in stays:
                    found.setdefault(sha, []).append(str(turn.number))
        return {sha: tuple(numbers) for sha, numbers in found.items()}


def recorded_checkouts(project: Project) -> list[RecordedCheckout]:
    """Return every checkout in which turns were kept."""
    if not project.snapshots.root.is_dir():
        return []
    there = set(project.snapshots.tasks())
    return [_recorded(project, each) for each in checkout_ids(project) if each in there]


def _recorded(project: Project, checkout: TaskId) -> RecordedCheckout:
    journal = journal_of(project, checkout)
    lines = [entry.raw for entry in journal.entries()]
    turns = turns_in(journal)
    named: set[str | None] = set(base_snapshots(project.snapshots, checkout))
    named.add(project.snapshots.tip(checkout))
    record = RecordedTask(
        id=checkout,
        name=next((each.root for each in reversed(turns) if each.root), ""),
        state=CHECKOUT,
        lines=len(lines),
        head=sha256_hex(lines[-1]) if lines else "",
        named=frozenset(named),
    )
    return RecordedCheckout(record, tuple(turns))


def _snapshots(turn: BesideTurn) -> Iterator[str]:
    yield from (each for each in (turn.before, turn.after) if each)


def _is_older(turn: BesideTurn, before: datetime) -> bool:
    try:
        return datetime.fromisoformat(turn.ended_at or turn.at) < before
    except (ValueError, TypeError):  # TypeError: the time was written without its offset
        return False
