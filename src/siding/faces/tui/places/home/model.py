"""What home shows and where the cursor is: the feed in an order that does not move. Pure.

The cursor is on a row and not on a line: what is done is done to the row that a person sees under
it, whatever came meanwhile. While a person works in the list, rows keep their places: one that
changes its state says so where it is, a new one comes at the end of its section, and `moved` counts
those that would stand elsewhere. After `HELD_S` without a key, and by `sort`, all are in order.
"""

from collections.abc import Callable, Mapping

from siding.faces.tui.places.home.filtering import filtered
from siding.faces.tui.places.home.loose import is_loose, with_loose_asks
from siding.faces.tui.places.home.sections import HomeLine, Item, items, lines_of
from siding.faces.tui.slots import Slots
from siding.feed.addresses import Address
from siding.feed.model import Ask, Feed, Row, RowKind, State
from siding.feed.state import ordered

HELD_S = 20.0
_NOTHING = Feed(0, 0, (), (), (), 0)


class HomeList:
    """The lines of home, the cursor, the filter, what is selected, the numbers."""

    def __init__(self, now: Callable[[], float], slots: Slots | None = None) -> None:
        self._now = now
        self.feed = _NOTHING
        self.slots = slots or Slots()
        self.asks: dict[str, Ask] = {}
        self.lines: list[HomeLine] = []
        self.cursor = ""  # the key of a row, "" for none
        self.words = ""  # of the filter
        self.is_open = False  # what rests and is done is listed
        self.selected: set[str] = set()
        self._order: list[str] = []
        self._sections: dict[str, State] = {}
        self._keyed_at: float | None = None

    def take(self, feed: Feed) -> None:
        """Show a feed. Rows keep their places if a key was pressed a moment ago."""
        self.feed = feed = with_loose_asks(feed)
        self.asks = {ask.id: ask for ask in feed.asks}
        in_order = ordered(feed.rows)
        self.slots.take(in_order)
        keys = {row.key for row in feed.rows}
        self.selected &= keys
        if self._order and self._is_held():
            self._keep_places(in_order)
        else:
            self._put_in_order(in_order)
        self._lay_out()

    def sort(self) -> None:
        """Put all rows where they belong now."""
        self._put_in_order(ordered(self.feed.rows))
        self._lay_out()

    def idle(self) -> bool:
        """Put the rows in order if no key was pressed for a while; return whether any moved."""
        if self._is_held() or not self.moved:
            return False
        self.sort()
        return True

    def keyed(self) -> None:
        """Note that a person works in the list."""
        self._keyed_at = self._now()

    @property
    def moved(self) -> int:
        """How many rows would stand elsewhere if all were in order: in another section."""
        return sum(
            row.state is not self._sections.get(row.key, row.state) for row in self._at_the_top()
        )

    # The cursor.

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return next((item.row for item in items(self.lines) if item.key == self.cursor), None)

    def conversation_of(self, row: Row) -> Row | None:
        """Return the row of the conversation to which a word for a row goes; None for none.

        A run that no conversation holds is written to itself.
        """
        if row.kind is RowKind.CHAT:
            return row
        chats = [
            each
            for each in self.feed.rows
            if each.kind is RowKind.CHAT and each.parent == row.key and row.kind is RowKind.TASK
        ]
        held = [each for each in chats if each.run == row.run] if row.run else chats
        return next(reversed(held), None)

    @property
    def line_of_cursor(self) -> int:
        """The number of the line under the cursor; -1 for none."""
        return next((at for at, line in enumerate(self.lines) if line.key == self.cursor), -1)

    def move(self, step: int) -> None:
        """Move the cursor by so many rows; it stops at the ends."""
        found = items(self.lines)
        if not found:
            return
        at = next((i for i, item in enumerate(found) if item.key == self.cursor), 0)
        self.cursor = found[max(0, min(at + step, len(found) - 1))].key

    def stand_on_line(self, at: int) -> bool:
        """Move the cursor to a line; return whether it is a row."""
        if 0 <= at < len(self.lines) and isinstance(self.lines[at], Item):
            self.cursor = self.lines[at].key
            return True
        return False

    def stand_on(self, key: str) -> bool:
        """Move the cursor to a row: what hides it is opened, or the filter goes.

        Return whether it is there.
        """
        if key not in {row.key for row in self.feed.rows}:
            return False
        if not self._shows(key):
            self.is_open = True
            self._lay_out()
        if not self._shows(key):
            self.words = ""
            self._lay_out()
        self.cursor = key
        return True

    def next_waiting(self, step: int = 1) -> str:
        """Return the key of the next row that waits, from the cursor on; "" if none waits.

        The rows of the filter come first; where none of them waits, it is any row.
        """
        found = [item.row for item in items(self.lines)]
        if not any(_waits(row) for row in found):
            found = self._in_place()
        waiting = [at for at, row in enumerate(found) if _waits(row)]
        if not waiting:
            return ""
        here = next((at for at, row in enumerate(found) if row.key == self.cursor), -1)
        if step > 0:
            at = next((each for each in waiting if each > here), waiting[0])
        else:
            before = [each for each in waiting if each < here]
            at = before[-1] if before else waiting[-1]
        return found[at].key

    def key_at(self, address: Address) -> str:
        """Return the key of the row that an address is of; "" if there is none.

        Where an address is of many, as a project's is, it is what waits longest, else the first.
        """
        wanted, keys = str(address), {row.key for row in self.feed.rows}
        found = [(ask.address, ask.row) for ask in self.feed.asks if ask.row in keys]
        found += [(row.address, row.key) for row in self._in_place()]
        named = (key for at, key in found if at == wanted)
        below = (key for at, key in found if at.startswith(f"{wanted}/"))
        return next(named, "") or next(below, "")

    # What is shown.

    def filter(self, words: str) -> None:
        """Show only rows that have these words."""
        self.words = words
        self._lay_out()

    def fold(self) -> None:
        """List what rests and what is done, or only how many there are."""
        self.is_open = not self.is_open
        self._lay_out()

    def select(self) -> None:
        """Select the row under the cursor, or not any more; the cursor goes on."""
        if self.cursor in self.selected:
            self.selected.discard(self.cursor)
        elif self.cursor:
            self.selected.add(self.cursor)
        self.move(1)

    def chosen(self) -> list[Row]:
        """Return the rows that an act is about: those selected, else the one of the cursor.

        The row of an ask of no task is none of them.
        """
        if self.selected:
            found = [row for row in self._in_place() if row.key in self.selected]
        else:
            found = [self.row] if self.row is not None else []
        return [row for row in found if not is_loose(row)]

    def counts(self) -> Mapping[State, int]:
        """Return how many rows at the top are in each state, by what they are now."""
        found = dict.fromkeys(State, 0)
        for row in self._at_the_top():
            found[row.state] += 1
        return found

    def _at_the_top(self) -> list[Row]:
        keys = {row.key for row in self.feed.rows}
        return [row for row in self.feed.rows if row.parent not in keys]

    def _is_held(self) -> bool:
        return self._keyed_at is not None and self._now() - self._keyed_at < HELD_S

    def _put_in_order(self, in_order: list[Row]) -> None:
        self._order = [row.key for row in in_order]
        self._sections = {row.key: row.state for row in in_order}

    def _keep_places(self, in_order: list[Row]) -> None:
        """Leave the rows that are known where they are; others come after them."""
        by_key = {row.key: row for row in in_order}
        known = set(self._order)
        self._order = [key for key in self._order if key in by_key]
        self._order += [row.key for row in in_order if row.key not in known]
        self._sections = {key: self._sections.get(key, row.state) for key, row in by_key.items()}

    def _in_place(self) -> list[Row]:
        by_key = {row.key: row for row in self.feed.rows}
        return [by_key[key] for key in self._order if key in by_key]

    def _lay_out(self) -> None:
        """Make the lines. A cursor whose row is gone goes to the one that took its place."""
        before = self.line_of_cursor
        rows = filtered(self._in_place(), self.words)
        self.lines = lines_of(rows, self._sections, is_open=self.is_open or bool(self.words))
        if self._shows(self.cursor):
            return
        found = [
            (abs(at - before), item.key)
            for at, item in enumerate(self.lines)
            if isinstance(item, Item)
        ]
        self.cursor = min(found)[1] if found else ""

    def _shows(self, key: str) -> bool:
        return any(item.key == key for item in items(self.lines))


def _waits(row: Row) -> bool:
    """Tell whether a row is one to go to: with a conversation, its task waits."""
    return row.state is State.WAITS and row.kind is not RowKind.CHAT
