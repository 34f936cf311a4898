"""`Rows`: what all widgets of rows do for a person: a cursor, a range, searches, keys and mouse."""

from collections.abc import Iterable

from textual.events import MouseScrollDown, MouseScrollUp
from textual.selection import Selection

from siding.faces.tui.rows.scrolling import MARGIN, Scrolled

_WHEEL = 3  # rows


class Rows(Scrolled):
    """Items on which a cursor can stand. A subclass of this has the items."""

    def show_item(self, item: int) -> None:
        """Scroll as little as it takes to have an item on the screen."""
        self._ensure(item)
        top, height = self._heights.top(item), self._height(item)
        if top < self.top_row:
            self.go_to_row(top)
        elif top + height > self.top_row + self.size.height:
            self.go_to_row(max(min(top, top + height - self.size.height), 0))

    def move(self, count: int) -> None:
        """Move the cursor by items on which it can stand."""
        item = self.cursor
        if item < 0:
            first = self._heights.find(self.top_row).item
            item = first if count < 0 else first - 1
        step = 1 if count > 0 else -1
        reached = self.cursor
        for _ in range(abs(count)):
            item += step
            while 0 <= item < self.count and not self.is_stop(item):
                item += step
            if not 0 <= item < self.count:
                break
            reached = item
        self.stand_on(reached)

    def stand_on(self, item: int) -> None:
        """Put the cursor on an item (-1: on none) and show it."""
        self.cursor = item
        if item >= 0:
            self.show_item(item)
        self.refresh()
        self.post_message(self.Moved(self))

    def begin_range(self) -> None:
        """Let the range begin at the cursor; the cursor then moves its other end."""
        self._mark = self.cursor
        self.refresh()
        self.post_message(self.Moved(self))

    def end_range(self) -> None:
        """Give the range up."""
        self._mark = -1
        self.refresh()
        self.post_message(self.Moved(self))

    # Searches

    def search(self, word: str) -> int:
        """Highlight a word ("" for none) and go to its first item from here on; -1 if none."""
        self.word = word
        self._drawing.forget()
        self.refresh()
        start = self.cursor if self.cursor >= 0 else self._heights.find(self.top_row).item
        return self._find(range(start, self.count), range(start)) if word else -1

    def next_hit(self, step: int = 1) -> int:
        """Go to the next item with the word (the one before with -1), round the end; -1 if none."""
        at, count = self.cursor, self.count
        if step > 0:
            return self._find(range(at + 1, count), range(at + 1))
        return self._find(range(at - 1, -1, -1), range(count - 1, at - 1, -1))

    def _find(self, *ranges: range) -> int:
        word = self.word.lower()
        for each in ranges:
            for item in each:
                if word in self.text_of(item).lower():
                    self.reveal(item)
                    self.stand_on(item)
                    return item
        return -1

    def reveal(self, item: int) -> None:
        """Unfold what hides an item. A subclass that folds says how."""

    # Keys and mouse

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that the mouse selected, without the column of marks."""
        start, end = selection
        first = 0 if start is None else start.y
        last = self._heights.total - 1 if end is None else end.y
        rows = []
        for row, strip in enumerate(self._strips(first, last - first + 1), first):
            span = selection.get_span(row)
            if span is not None:
                stop = len(strip.text) if span[1] < 0 else span[1]
                rows.append(strip.text[max(MARGIN, span[0]) : stop].strip("\u2068\u2069").rstrip())
        return "\n".join(rows), "\n"

    def selection_updated(self, _selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Scroll down."""
        event.stop().prevent_default()
        self.scroll_rows(_WHEEL)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Scroll up."""
        event.stop().prevent_default()
        self.scroll_rows(-_WHEEL)

    def item_at(self, y: int) -> int:
        """Return the item at a row of the screen; -1 if there is none."""
        row = self.top_row + y
        return self._heights.find(row).item if row < self._heights.total else -1

    def action_scroll_up(self) -> None:
        """Move the cursor up, or the screen if there is no cursor."""
        self.move(-1) if self.cursor >= 0 else self.scroll_rows(-1)

    def action_scroll_down(self) -> None:
        """Move the cursor down, or the screen if there is no cursor."""
        self.move(1) if self.cursor >= 0 else self.scroll_rows(1)

    def action_page_up(self) -> None:
        """Go a screen up."""
        self.page(-1)

    def action_page_down(self) -> None:
        """Go a screen down."""
        self.page(1)

    def page(self, count: int) -> None:
        """Go screens down, or up if negative; the cursor comes along."""
        step = max(1, self.size.height - 1) * count
        self.scroll_rows(step)
        if self.cursor >= 0:
            self._bring_cursor()

    def action_scroll_home(self) -> None:
        """Go to the beginning."""
        self.go_to_row(0)
        if self.cursor >= 0:
            self._bring_cursor(first=True)

    def action_scroll_end(self) -> None:
        """Go to the end, and follow it."""
        self.go_to_end()
        if self.cursor >= 0:
            self._bring_cursor(last=True)

    def _bring_cursor(self, *, first: bool = False, last: bool = False) -> None:
        """Put the cursor onto the screen: where it is nearest, or at one end of all items."""
        lowest = self._heights.find(self.top_row).item
        highest = self._heights.find(self.top_row + self.size.height - 1).item
        if first or last:
            order: Iterable[int] = range(self.count) if first else range(self.count - 1, -1, -1)
        elif self.cursor < lowest:
            order = range(lowest, self.count)
        elif self.cursor > highest:
            order = range(highest, -1, -1)
        else:
            return
        reached = next((item for item in order if self.is_stop(item)), self.cursor)
        self.stand_on(reached)
