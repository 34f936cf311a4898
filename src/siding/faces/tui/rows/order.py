"""An order that does not change under the cursor. Pure.

While it is held, rows change in place; those that are gone go, and new ones come below the
cursor. Everything else of the wanted order is counted, and taken when a person asks for it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from siding.ground.namedtuples import NamedTuple


class Pending(NamedTuple):
    """How the wanted order differs from the one shown."""

    up: int = 0  # rows that would move up
    down: int = 0
    new: int = 0  # rows that would stand above the cursor, and are not shown yet

    def __str__(self) -> str:
        counted = ((self.up, "moved up"), (self.down, "moved down"), (self.new, "new above"))
        return ", ".join(f"{count} {what}" for count, what in counted if count)


class Order:
    """The keys of a list as they are shown, beside the order that is wanted."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self._wanted: list[str] = []

    def want(self, keys: Sequence[str], *, cursor: str | None) -> None:
        """Take a new order: at once, or, with the cursor on a row that stays, later."""
        self._wanted = list(keys)
        if cursor is None or cursor not in set(keys):
            self.shown = list(keys)
            return
        wanted = set(keys)
        kept = [key for key in self.shown if key in wanted]
        known = set(kept)
        place = {key: at for at, key in enumerate(kept)}
        at_cursor = place.get(cursor, 0)
        following: dict[str, list[str]] = {}  # new keys by the shown one that they come after
        after: str | None = None  # the row, at the cursor or below, that new keys come after
        for key in keys:
            if key == cursor or (after is not None and place.get(key, -1) >= at_cursor):
                after = key
            elif after is not None and key not in known:
                following.setdefault(after, []).append(key)
        self.shown = [each for key in kept for each in (key, *following.get(key, ()))]

    def sort(self) -> None:
        """Take the wanted order."""
        self.shown = list(self._wanted)

    @property
    def pending(self) -> Pending:
        """What `sort` would change."""
        if self.shown == self._wanted:
            return Pending()
        shown = set(self.shown)
        target = {key: at for at, key in enumerate(key for key in self._wanted if key in shown)}
        places = [target[key] for key in self.shown]
        stay = _longest_rising(places)
        up = sum(to < at and to not in stay for at, to in enumerate(places))
        down = sum(to not in stay for to in places) - up
        return Pending(up=up, down=down, new=len(self._wanted) - len(shown))


def _longest_rising(places: Iterable[int]) -> set[int]:
    """Return the largest set of places that are in order already."""
    tops: list[int] = []
    before: dict[int, int | None] = {}
    for place in places:
        at = bisect_left(tops, place)
        before[place] = tops[at - 1] if at else None
        tops[at : at + 1] = [place]
    found: set[int] = set()
    last: int | None = tops[-1] if tops else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found
