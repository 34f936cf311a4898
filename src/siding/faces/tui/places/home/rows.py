"""The list of home on the screen: it draws the lines of `HomeList`, which has the cursor."""

from collections.abc import Callable, Hashable

from siding.faces.tui.places.home.columns import Marks, heading_pieces, row_pieces
from siding.faces.tui.places.home.model import HomeList
from siding.faces.tui.places.home.sections import Heading, Item
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.text import inert
from siding.feed.model import Row


class HomeRows(Rows):
    """Draws one line for each heading and row."""

    def __init__(
        self, home: HomeList, *, now_s: Callable[[], float], is_unseen: Callable[[Row], bool]
    ) -> None:
        super().__init__(id="home")
        self._home = home
        self._now_s = now_s
        self._is_unseen = is_unseen

    def show(self) -> None:
        """Draw the lines as they are now; the cursor is where `HomeList` has it."""
        before, at = self.top_row, self.cursor
        self.replaced(len(self._home.lines))
        self.cursor = self._home.line_of_cursor
        if self.cursor >= 0 and at >= 0:  # its row stays at the same height of the screen
            self.go_to_row(max(0, before + self.cursor - at))
            self.show_item(self.cursor)
        self.refresh()

    def stand(self) -> None:
        """Bring the cursor to where `HomeList` has it."""
        self.stand_on(self._home.line_of_cursor)

    def stand_on(self, item: int) -> None:
        """Put the cursor on a line; that of a row is the cursor of `HomeList`, too."""
        self._home.stand_on_line(item)
        super().stand_on(item)

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the one row of a line."""
        line = self._home.lines[item]
        if isinstance(line, Heading):
            done_before = self._home.feed.done_before
            return [fitted(heading_pieces(line, width, done_before=done_before), width)]
        home = self._home
        number = home.slots.number_of(line.key)
        marks = Marks(
            slot=number if not line.depth else 0,
            is_pinned=home.slots.is_pinned(number),
            is_unseen=self._is_unseen(line.row),
            is_selected=line.key in home.selected,
        )
        branches = ("|-", "`-") if self.look.is_ascii else ("├ ", "└ ")
        pieces = row_pieces(
            line,
            marks,
            home.asks,
            self._now_s(),
            width,
            dot=self.look.mark("unseen"),
            branches=branches,
        )
        return [fitted(pieces, width, end=self.look.mark("ellipsis"))]

    def measure(self, item: int, width: int) -> int:
        """Return 1: each line has one row."""
        del item, width
        return 1

    def text_of(self, item: int) -> str:
        """Return the text of a line, for searches."""
        line = self._home.lines[item]
        return "" if isinstance(line, Heading) else inert(f"{line.row.name} {line.row.what}")

    def key_of(self, item: int) -> Hashable:
        """Return the key of a line."""
        return self._home.lines[item].key

    def is_stop(self, item: int) -> bool:
        """Tell whether a line is a row."""
        return isinstance(self._home.lines[item], Item)
