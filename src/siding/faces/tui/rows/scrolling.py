"""`Scrolled`: many items, of which only those on the screen are drawn.

A subclass says how high an item is and how it looks; this class finds, keeps and scrolls. Three
rules. What a person looks at stays where it is: the place is kept as an item and a part of it,
never as a row. The end is followed only while it is on the screen. And heights are measured where
a person looks, the rest in slices between frames.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Hashable, Iterator
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from textual.events import Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.heights import Heights
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look
from siding.ground.namedtuples import NamedTuple

_NOW_S, _SLICE_S = 0.008, 0.005
_MANY = 2_000  # items whose heights are estimated when they come at once
_MOST_MEASURED = 400_000  # items; the heights of the others stay estimates until they are seen
MARGIN = 1  # the column of marks: cursor, range


class Place(NamedTuple):
    """What is in the first row of the screen: a row of an item, out of so many."""

    item: int
    row: int = 0
    of: int = 1


class Scrolled(ScrollView, can_focus=True):
    """Items one below the other; `count` of them. The subclass has them."""

    DEFAULT_CSS = """
    Scrolled {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size: 0 0;
    }
    """
    FOLLOWS: ClassVar[bool] = False  # whether the end is followed from the start

    class Moved(Message):
        """The cursor, the range or the place has changed."""

        def __init__(self, rows: "Scrolled") -> None:
            super().__init__()
            self.rows = rows

        @property
        def control(self) -> "Scrolled":
            return self.rows

    def __init__(self, *, look: Look = PLAIN_LOOK, **words: Any) -> None:
        super().__init__(**words)
        self.look = look
        self.cursor = -1  # an item; -1 for none
        self.word = ""  # what is searched
        self.new_rows = 0  # that came below while the end was not followed
        self.following = self.FOLLOWS
        self._mark = -1  # the other end of the range
        self._heights = Heights()
        self._cols = 0  # the width that the heights are measured for, without the margin
        self._spot = Place(0)
        self._drawing = Drawing()
        self._measuring: asyncio.Task[None] | None = None
        self._generation = 0

    # What a subclass says

    @abstractmethod
    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the rows of an item, each at most `width` cells wide."""

    @abstractmethod
    def measure(self, item: int, width: int) -> int:
        """Return how many rows `paint` gives; 0 for an item that is not shown."""

    @abstractmethod
    def text_of(self, item: int) -> str:
        """Return the text of an item, for searches."""

    def key_of(self, item: int) -> Hashable:
        """Return what names the item also when others come before it."""
        return item

    def is_stop(self, item: int) -> bool:
        """Tell whether the cursor can stand on an item."""
        return self._heights[item] > 0

    # What others ask

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self._heights)

    @property
    def top_row(self) -> int:
        """The first row on the screen."""
        return self.scroll_offset.y

    @property
    def rows_total(self) -> int:
        """The rows of all items, as far as they are measured."""
        return self._heights.total

    @property
    def place(self) -> Place:
        """What is in the first row of the screen; give it to `go_to_place` to be there again."""
        return self._spot

    @property
    def at_end(self) -> bool:
        """Tell whether the last row is on the screen."""
        return self.top_row >= self._heights.total - self.size.height

    @property
    def chosen_range(self) -> range:
        """The items of the range, or that of the cursor; empty without a cursor."""
        if self.cursor < 0:
            return range(0)
        other = self.cursor if self._mark < 0 else self._mark
        return range(min(self.cursor, other), max(self.cursor, other) + 1)

    def use(self, look: Look) -> None:
        """Draw with other colours, or other marks."""
        self.look = look
        self.forget()

    # What a subclass does after a change

    def appended(self, count: int = 1) -> None:
        """Take `count` items in that the subclass has added at the end."""
        before = self._heights.total
        first = len(self._heights)
        self._drop(first, count)
        if self._cols <= 0 or count > _MANY:
            self._heights.extend(count)
            self._measure_soon()
        else:
            for item in range(first, first + count):
                self._heights.append(self.measure(item, self._cols))
        self._came(self._heights.total - before)

    def inserted(self, item: int, count: int = 1) -> None:
        """Take `count` items in that the subclass has put before `item`."""
        if item >= len(self._heights):
            self.appended(count)
            return
        self._drop(item, count)
        self._insert(item, count)
        self._shift(item, count)
        self._settle()

    def _insert(self, item: int, count: int) -> None:
        """Measure items that are there now; many are estimated, and measured soon."""
        if self._cols <= 0 or count > _MANY:
            self._heights.insert(item, [1] * count, is_exact=False)
            self._measure_soon()
        else:
            width = self._cols
            added = [self.measure(each, width) for each in range(item, item + count)]
            self._heights.insert(item, added)

    def _drop(self, item: int, count: int) -> None:
        """Let the strips of items go: another item had their keys before."""
        if count > _MANY:
            self._drawing.forget()
        else:
            for each in range(item, item + count):
                self._drawing.drop(self.key_of(each))

    def removed(self, item: int, count: int = 1) -> None:
        """Let `count` items go, from `item` on."""
        self._heights.remove(item, count)
        self._shift(item, -count)
        self._settle()

    def changed(self, item: int, count: int = 1) -> None:
        """Draw items anew that look different now, or have another height."""
        before = self._heights.total
        self._drop(item, count)
        if count > _MANY:
            self._heights.remove(item, count)
            self._insert(item, count)
        elif self._cols > 0:
            for each in range(item, item + count):
                self._heights.set(each, self.measure(each, self._cols))
        grown = self._heights.total - before
        self._came(grown if item + count >= self.count else 0)

    def hidden(self, item: int, count: int) -> None:
        """Take items from the screen that are folded now; those beyond the end are new."""
        self._heights.remove(item, min(count, len(self._heights) - item))
        self._heights.insert(item, [0] * count)
        self._settle()

    def replaced(self, count: int) -> None:
        """Take `count` items in place of all. Cursor and place stay by their numbers."""
        self._heights.clear()
        self._drawing.forget()
        self._heights.extend(count)
        self.cursor = min(self.cursor, count - 1)
        self._mark = min(self._mark, count - 1)
        if self._spot.item >= count:
            self._spot = Place(max(0, count - 1))
        self._measure_soon()
        self._settle()

    def forget(self) -> None:
        """Draw all items anew; heights stay."""
        self._drawing.forget()
        self.refresh()

    def remeasure(self) -> None:
        """Measure all items anew: those on the screen now, the rest soon."""
        self._drawing.forget()
        self._heights.estimate_all()
        self._generation += 1
        self._measure_soon()
        self._settle()

    def _came(self, rows: int) -> None:
        if self.following:
            self.new_rows = 0
        elif rows > 0 and self.FOLLOWS:
            self.new_rows += rows
        self._settle()

    def _shift(self, item: int, count: int) -> None:
        """Keep what names items by number right after some came, or went, at `item`."""

        def moved(old: int) -> int:
            if old < item:
                return old
            return max(item, old + count) if count < 0 else old + count

        last = self.count - 1
        if self.cursor >= 0:
            self.cursor = min(moved(self.cursor), last)
        if self._mark >= 0:
            self._mark = min(moved(self._mark), last)
        row, of = self._spot.row, self._spot.of
        if count < 0 and item <= self._spot.item < item - count:
            row, of = 0, 1
        self._spot = Place(max(0, min(moved(self._spot.item), last)), row, of)

    # Going somewhere

    def scroll_rows(self, count: int) -> None:
        """Scroll by rows: down, or up if negative."""
        self.go_to_row(self.top_row + count)

    def go_to_row(self, row: int) -> None:
        """Bring a row to the top of the screen."""
        most = max(0, self._heights.total - self.size.height)
        row = max(0, min(row, most))
        found = self._heights.find(row)
        self._stand(Place(found.item, found.row, max(1, self._height(found.item))))
        if row >= most:
            self._ensure_end()
        self._look_where()

    def go_to_place(self, place: Place) -> None:
        """Bring a part of an item to the top of the screen."""
        self._stand(place)
        self._look_where()

    def go_to_item(self, item: int, *, above: int = 0) -> None:
        """Bring an item to the top of the screen, with `above` rows before it."""
        self._stand(Place(item))
        if above:
            self.go_to_row(self._heights.top(item) - above)
        else:
            self._look_where()

    def go_to_end(self) -> None:
        """Bring the last row onto the screen, and follow the end if this widget does that."""
        self._ensure_end()
        self.go_to_row(self._heights.total)

    # Where the screen is

    def _stand(self, place: Place) -> None:
        """Keep a place as what the person looks at; measure around it, and go there."""
        self._spot = place
        self.following = False
        self._settle()

    def _look_where(self) -> None:
        """After a person's move: the end is followed if it is on the screen."""
        if self.at_end:
            self.following = self.FOLLOWS
            self.new_rows = 0
        self.post_message(self.Moved(self))

    def _height(self, item: int) -> int:
        return self._heights[item] if 0 <= item < self.count else 0

    def _settle(self) -> None:
        """Put the screen where the kept place is now."""
        if self._cols > 0:
            if self.following:
                self._ensure_end()
            elif self.count:
                self._ensure(self._spot.item)
        height, total = self.size.height, self._heights.total
        most = max(0, total - height)
        if self.following:
            row = most
            if total:
                found = self._heights.find(row)
                self._spot = Place(found.item, found.row, max(1, self._height(found.item)))
        else:
            item, part, of = self._spot
            row = self._heights.top(item) + part * max(0, self._height(item)) // max(1, of)
            row = max(0, min(row, most))
        self.set_reactive(Widget.virtual_size, Size(max(0, self.size.width), total))
        self.set_scroll(None, row)
        self.set_reactive(Widget.scroll_target_y, row)
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow a scroll that Textual made, as for a selection that leaves the screen."""
        if round(old_value) != round(new_value):
            self.go_to_row(round(new_value))

    def _ensure(self, item: int) -> None:
        """Measure the items around one, a screen and a chunk to both sides."""
        if self._cols <= 0 or not self.count:
            return
        item = min(max(0, item), self.count - 1)
        first = max(0, self._heights.chunk_of(item) - 1)
        rows = 0
        for chunk in range(first, self._heights.chunks):
            self._measure_chunk(chunk)
            items = self._heights.items(chunk)
            if items.start > item:
                rows += self._heights.top(items.stop) - self._heights.top(items.start)
                if rows > self.size.height:
                    break

    def _ensure_end(self) -> None:
        if self._cols <= 0:
            return
        rows = 0
        for chunk in range(self._heights.chunks - 1, -1, -1):
            self._measure_chunk(chunk)
            items = self._heights.items(chunk)
            rows += self._heights.top(items.stop) - self._heights.top(items.start)
            if rows > self.size.height * 2:
                break

    def _measure_chunk(self, chunk: int) -> None:
        if not self._heights.is_exact(chunk):
            items, width = self._heights.items(chunk), self._cols
            self._heights.measured(chunk, [self.measure(item, width) for item in items])

    def _fit(self) -> None:
        """Take the present width: measure what is seen now, and the rest soon."""
        cols = self.size.width - MARGIN
        if cols == self._cols or cols <= 0:
            return
        self._cols = cols
        self._generation += 1
        self._drawing.forget()
        self._heights.estimate_all()
        self._settle()
        spend_until = perf_counter() + _NOW_S
        for chunk in self._chunks_from_here():
            if perf_counter() > spend_until:
                break
            self._measure_chunk(chunk)
        self._settle()
        self._measure_soon()

    def _chunks_from_here(self) -> Iterator[int]:
        """Yield the chunks that are not measured, those near the screen first."""
        if not self.count:
            return
        here = self._heights.chunk_of(min(self._spot.item, self.count - 1))
        for distance in range(self._heights.chunks):
            for chunk in {here - distance, here + distance}:
                if 0 <= chunk < self._heights.chunks and not self._heights.is_exact(chunk):
                    yield chunk

    def _measure_soon(self) -> None:
        if self._measuring is None or self._measuring.done():
            with suppress(RuntimeError):  # no loop yet: the first size begins it
                self._measuring = asyncio.get_running_loop().create_task(self._measure_rest())

    async def _measure_rest(self) -> None:
        """Measure all other items, a slice at a time; begin again when the width changes."""
        generation = -1
        while self.is_attached and self._cols > 0 and self._heights.measured_items < _MOST_MEASURED:
            if generation != self._generation:
                generation, chunks = self._generation, self._chunks_from_here()
            end = perf_counter() + _SLICE_S
            for chunk in chunks:
                if chunk < self._heights.chunks:
                    self._measure_chunk(chunk)
                if perf_counter() > end:
                    break
            else:
                if self._heights.are_exact:
                    break
                generation = -1  # some came, or went, meanwhile
            self._settle()
            await asyncio.sleep(0.001)
        self._settle()

    def on_resize(self, _event: Resize) -> None:
        """Wrap anew."""
        self._fit()
        self._settle()

    def on_unmount(self) -> None:
        """Stop measuring."""
        if self._measuring is not None:
            self._measuring.cancel()

    # Drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of the rows on the screen, as they were drawn before if possible.

        Textual's own way from `render_line` to a strip with the styles of CSS costs half of a
        frame. Without border and padding it adds nothing, so it is left out.
        """
        if self.gutter:
            return super().render_lines(crop)
        self._fit()
        self._draw_with()
        strips = list(self._strips(self.top_row + crop.y, crop.height))
        width, height = self.size
        if self.new_rows and crop.bottom >= height:
            strips[-1] = self._drawing.with_notice(strips[-1], self._notice())
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """Return one row of the screen, with what the mouse has to know to select text."""
        self._fit()
        self._draw_with()
        (strip,) = self._strips(self.top_row + y, 1)
        return strip.apply_offsets(0, self.top_row + y)

    def _draw_with(self) -> None:
        _base, background = self.background_colors
        self._drawing.draw_with(
            self.look, self.rich_style, self.size.width, self.get_line_filters(), background
        )

    def _strips(self, row: int, count: int) -> Iterator[Strip]:
        """Yield the strips of `count` rows; blank ones beyond the end."""
        selection = self.text_selection
        item, first = self._heights.find(row)
        chosen = self.chosen_range if self._mark >= 0 else ()
        while count > 0 and item < self.count:
            if self._heights[item]:
                lay = "cursor" if item == self.cursor else "range" if item in chosen else ""
                drawn = self._drawing.strips(self.key_of(item), lay, partial(self._painted, item))
                for strip in drawn[first : first + count]:
                    span = selection.get_span(row) if selection is not None else None
                    yield self._drawing.over(strip, *span, "selected") if span else strip
                    row += 1
                    count -= 1
            item, first = item + 1, 0
        for _ in range(count):
            yield self._drawing.blank()

    def _painted(self, item: int) -> list[Pieces]:
        return self.paint(item, self._cols)

    def _notice(self) -> str:
        mark = self.look.mark("new-lines")
        return f"{mark} {self.new_rows:,} new line{'s' * (self.new_rows != 1)}, end follows"
