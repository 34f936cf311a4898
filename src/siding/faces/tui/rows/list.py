"""`ListView`: a list of rows with columns, under the titles of their sections."""

from collections.abc import Hashable, Sequence
from typing import Any

from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import PLAIN_LOOK, TEXT, Look
from siding.ground.namedtuples import NamedTuple


class Column(NamedTuple):
    """One column. Columns with the highest `drop` go first when the screen is narrow."""

    width: int  # cells; of a column that takes what is left, the least
    takes_rest: bool = False
    right: bool = False  # aligned to the right
    drop: int = 0  # 0: never dropped


class Entry(NamedTuple):
    """A row of a list: its cells as pieces of inert text, one for each column."""

    key: str
    cells: Sequence[Pieces]
    section: str = ""  # the title above the first row of the section


def widths(columns: Sequence[Column], total: int) -> list[int]:
    """Return the cells of each column in a row of `total` cells; 0 for a dropped one.

    Between two columns are two cells.
    """
    shown = set(range(len(columns)))

    def used() -> int:
        return sum(columns[at].width for at in shown) + 2 * max(0, len(shown) - 1)

    droppable = sorted((-each.drop, -at) for at, each in enumerate(columns) if each.drop)
    for _, at in droppable:
        if used() <= total:
            break
        shown.discard(-at)
    found = [each.width if at in shown else 0 for at, each in enumerate(columns)]
    rest = total - used()
    takers = [at for at in sorted(shown) if columns[at].takes_rest]
    for number, at in enumerate(takers):
        found[at] = max(1, found[at] + rest // len(takers) + (number < rest % len(takers)))
    return found


class ListView(Rows):
    """Entries by key, in the order in which they are given; the cursor stays on its key."""

    def __init__(
        self,
        columns: Sequence[Column],
        *,
        look: Look = PLAIN_LOOK,
        **words: Any,
    ) -> None:
        super().__init__(look=look, **words)
        self.columns = tuple(columns)
        self._entries: dict[str, Entry] = {}
        self._lines: list[Entry | str] = []  # entries, and titles of sections

    def show(self, entries: Sequence[Entry]) -> None:
        """Show these entries. A cursor whose row is gone goes to the one that took its place."""
        entries_by_key = {each.key: each for each in entries}
        assert len(entries_by_key) == len(entries), "a key is there twice"
        changed = {
            key for key, each in entries_by_key.items() if self._entries.get(key, each) != each
        }
        self._entries = entries_by_key
        self._arrange()
        for key in changed:
            self._drawing.drop(key)

    @property
    def key(self) -> str | None:
        """The key of the row with the cursor."""
        found = self._lines[self.cursor] if 0 <= self.cursor < len(self._lines) else ""
        return found.key if isinstance(found, Entry) else None

    @property
    def keys(self) -> list[str]:
        """The keys of all rows, as they are shown."""
        return list(self._entries)

    def stand_on_key(self, key: str) -> bool:
        """Put the cursor on a row; False if it is not there."""
        for item, each in enumerate(self._lines):
            if isinstance(each, Entry) and each.key == key:
                self.stand_on(item)
                return True
        return False

    def _arrange(self) -> None:
        """Put titles between the entries; cursor and range stay on the keys they are on."""
        cursor, mark, top = self.key, self._key_at(self._mark), self._key_at(self._spot.item)
        lines: list[Entry | str] = []
        last = ""
        for each in self._entries.values():
            if each.section != last and each.section:
                lines.append(each.section)
            last = each.section
            lines.append(each)
        self._lines = lines
        places = {each.key: at for at, each in enumerate(lines) if isinstance(each, Entry)}
        old_cursor, from_top = self.cursor, self.cursor - self._spot.item
        self.replaced(len(lines))
        if cursor is not None:
            self.cursor = places.get(cursor, -1)
            if self.cursor < 0:  # its row is gone: the one that took its place
                self.cursor = self._nearest(old_cursor)
        self._mark = places.get(mark, -1) if mark is not None else -1
        if cursor is not None and cursor in places:
            self._spot = type(self._spot)(max(0, places[cursor] - max(0, from_top)))
        elif top is not None and top in places:
            self._spot = type(self._spot)(places[top])
        self._settle()

    def _nearest(self, item: int) -> int:
        stops = [at for at, each in enumerate(self._lines) if isinstance(each, Entry)]
        return min(stops, key=lambda at: (abs(at - item), at), default=-1)

    def _key_at(self, item: int) -> str | None:
        found = self._lines[item] if 0 <= item < len(self._lines) else ""
        return found.key if isinstance(found, Entry) else None

    # As `Rows` asks

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the one row of an entry, or of a title."""
        found = self._lines[item]
        end = self.look.mark("ellipsis")
        if isinstance(found, str):
            return [fitted([(found, "title")], width, end=end)]
        pieces: Pieces = [(" ", TEXT)]
        sizes = widths(self.columns, width - 1)
        is_first = True
        for column, size, cell in zip(self.columns, sizes, found.cells, strict=True):
            if size:
                pieces += [("", TEXT)] if is_first else [("  ", TEXT)]
                pieces += fitted(cell, size, right=column.right, end=end)
                is_first = False
        return [fitted(pieces, width, end=end)]

    def measure(self, item: int, width: int) -> int:
        """Return 1."""
        del item, width
        return 1

    def text_of(self, item: int) -> str:
        """Return the text of all cells of an entry."""
        found = self._lines[item]
        if isinstance(found, str):
            return ""
        return " ".join("".join(text for text, _ in cell) for cell in found.cells)

    def key_of(self, item: int) -> Hashable:
        """Return the key of an entry."""
        found = self._lines[item]
        return ("title", found) if isinstance(found, str) else found.key

    def is_stop(self, item: int) -> bool:
        """Tell whether it is an entry."""
        return isinstance(self._lines[item], Entry)


def plain(*texts: str) -> tuple[Pieces, ...]:
    """Return cells of plain text."""
    return tuple([(text, TEXT)] for text in texts)
