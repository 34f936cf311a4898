"""Show the turns that integrated agents have made in a checkout (`siding turns`)."""

from collections.abc import Iterator, Mapping, Sequence

from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Checkout, Project
from siding.record.place.selection import standing_in
from siding.record.recording.beside import Beside, BesideTurn
from siding.record.recording.difference import patch_lines
from siding.record.recording.freed import SnapshotFreed, freed_snapshots, freed_words
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.runs.reported import title_of as joined

__all__ = ["BesideTurn", "Turns", "title_of", "turns"]

NEWEST = "last"


class Turns(NamedTuple):
    """The turns in one checkout, oldest first."""

    checkout: Checkout
    all: Sequence[BesideTurn]
    snapshots: TaskSnapshots
    freed: Mapping[str, str]  # snapshots that `siding gc` has freed, with when

    def find(self, named: str) -> BesideTurn:
        """Return a turn by its number, or the `last` one. Raises NotFound."""
        if named == NEWEST and self.all:
            return self.all[-1]
        for turn in self.all:
            if named.lstrip("0") == str(turn.number):
                return turn
        raise NotFound(
            f"there is no turn {named!r} in {self.checkout.root}",
            hint="`siding turns` lists them",
        )

    def freed_at(self, turn: BesideTurn) -> str:
        """Return when a snapshot of the turn was freed; "" if both are there."""
        return self.freed.get(turn.before) or self.freed.get(turn.after) or ""

    def require(self, turn: BesideTurn) -> None:
        """Raise SnapshotFreed if a snapshot of the turn was freed."""
        if at := self.freed_at(turn):
            raise SnapshotFreed(
                f"what turn {turn.number} has changed is gone: {freed_words(at)}",
                hint="`siding turns` marks the turns that were freed",
            )

    def write_patch(self, turn: BesideTurn, fd: int) -> None:
        """Write what a turn has changed, as a patch, byte for byte."""
        self.snapshots.write_patch(turn.before, turn.after, fd)

    def patch_lines(self, turn: BesideTurn) -> Iterator[str]:
        """Yield the lines of that patch, for a screen."""
        for line in patch_lines(self.snapshots, turn.before, turn.after, ()):
            yield line.decode("utf-8", "backslashreplace")


def turns(project: Project) -> Turns:
    """Return the turns of the checkout that the person stands in. Raises UsageError."""
    if standing_in(project) is not None:
        raise UsageError(
            "this is a task's workspace: there each turn is a step",
            hint="`siding log` shows them, `siding rewind --list` with what was asked",
        )
    checkout = project.checkout
    if checkout is None:
        raise UsageError("a bare repository has no checkout")
    beside = Beside.of(project, checkout)
    freed = freed_snapshots(project)
    return Turns(checkout, beside.turns(), beside.snapshots(), freed)


def title_of(turn: BesideTurn) -> str:
    """Return the first lines of what was asked."""
    return joined(turn.prompts)
