"""What an import brought in, found there already, or left."""

from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Fate(StrEnum):
    """What becomes of one thing of a source."""

    NEW = "new"
    THERE = "there"
    LEFT = "left"


class Item(NamedTuple):
    """One thing of the source. `id` is what it has here, if it has an id; `note` is a phrase."""

    kind: str  # task, worktree, decision, phases, events
    name: str
    fate: Fate
    id: str = ""
    note: str = ""


class ImportReport(NamedTuple):
    """All things of a source, and a sentence for each that could not be read or brought in."""

    items: tuple[Item, ...]
    problems: tuple[str, ...]

    def count(self, fate: Fate, kind: str = "") -> int:
        """Return how many things have this fate, of one kind or of all."""
        return sum(each.fate is fate and kind in ("", each.kind) for each in self.items)
