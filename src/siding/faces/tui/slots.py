"""The numbers 1 to 9 before rows: a digit goes to its row. Pure.

A row gets the lowest free number when it first appears in what waits, broke, is ready or runs, and
keeps it as long as it is there and not done. A number that a person has given stays with its task,
also when that is not there: `feed/slots.py` keeps these on disk.
"""

from collections.abc import Iterable, Mapping

from siding.feed.model import Row, RowKind, State

MOST = 9
SLOT = "slot_"  # the acts that go to them: `slot_1`


class Slots:
    """The number of each row, and the row of each number."""

    def __init__(self, pinned: Mapping[int, str] | None = None) -> None:
        self._pinned = {n: key for n, key in (pinned or {}).items() if 1 <= n <= MOST}
        self._given: dict[int, str] = {}

    @property
    def pinned(self) -> dict[int, str]:
        """The numbers that a person has given."""
        return dict(self._pinned)

    def take(self, rows: Iterable[Row]) -> None:
        """Give numbers to rows that came, and take them from rows that went. In this order."""
        found = [row for row in rows if row.kind is not RowKind.AGENT and not row.parent]
        stays = {row.key for row in found if row.state is not State.DONE}
        pinned = set(self._pinned.values())
        self._given = {
            number: key
            for number, key in self._given.items()
            if key in stays and key not in pinned and number not in self._pinned
        }
        has = pinned | set(self._given.values())
        for row in found:
            if row.key in has or row.state in (State.RESTS, State.DONE):
                continue
            free = (n for n in range(1, MOST + 1) if n not in self._pinned and n not in self._given)
            number = next(free, 0)
            if number == 0:
                return
            self._given[number] = row.key

    def pin(self, number: int, key: str) -> bool:
        """Give a number to a row for good, or take it back if it has it; return whether it has."""
        had = self._pinned.get(number) == key
        self._pinned = {n: k for n, k in self._pinned.items() if k != key and n != number}
        self._given = {n: k for n, k in self._given.items() if k != key and n != number}
        if had:
            self._given[number] = key
            return False
        self._pinned[number] = key
        return True

    def row_of(self, number: int) -> str:
        """Return the key of the row with this number; "" if there is none."""
        return self._pinned.get(number) or self._given.get(number, "")

    def number_of(self, key: str) -> int:
        """Return the number of a row; 0 if it has none."""
        for numbers in (self._pinned, self._given):
            for number, its in numbers.items():
                if its == key:
                    return number
        return 0

    def is_pinned(self, number: int) -> bool:
        return number in self._pinned


def slot_of(act: str) -> int:
    """Return the number that an act goes to; 0 for other acts."""
    return int(act.removeprefix(SLOT)) if act.startswith(SLOT) else 0
