"""Make strips of pieces, and keep those that were drawn last."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import TEXT, Look, Styles
from siding.faces.tui.text import cells, head

KEPT_ITEMS = 512  # whose strips are kept


class Drawing:
    """The strips of items, by key. All are let go when the width, colours or filters change."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, list[Strip]] = OrderedDict()
        self._with: Hashable = None
        self._look = Look()
        self._base = Style()
        self._width = 0
        self._styles: dict[str, Styles] = {}
        self._filters: Sequence[LineFilter] = ()
        self._background = Color(0, 0, 0)

    def draw_with(
        self,
        look: Look,
        base: Style,
        width: int,
        filters: Sequence[LineFilter],
        background: Color,
    ) -> None:
        """Say what is drawn with: it costs nothing while it is the same."""
        now = (look, base, width, tuple(filters), background)
        if now != self._with:
            self._with = now
            self._look, self._base, self._width = look, base, width
            self._filters, self._background = tuple(filters), background
            self._styles.clear()
            self._kept.clear()

    def strips(self, key: Hashable, lay: str, paint: Callable[[], Sequence[Pieces]]) -> list[Strip]:
        """Return the strips of an item. `lay` is the state that is laid over it, "" for none."""
        kept = self._kept.get((key, lay))
        if kept is not None:
            self._kept.move_to_end((key, lay))
            return kept
        mark = self._look.mark(lay) if lay else " "
        made = [self.strip([(mark, TEXT), *pieces], lay) for pieces in paint()]
        self._kept[(key, lay)] = made
        if len(self._kept) > KEPT_ITEMS:
            self._kept.popitem(last=False)
        return made

    def strip(self, pieces: Pieces, lay: str = "") -> Strip:
        """Return pieces as a strip of the whole width; neighbours of one style are one segment."""
        styles = self._named(lay)
        segments: list[Segment] = []
        used = 0
        text, name = "", TEXT
        for each, its in pieces:
            if its == name:
                text += each
                continue
            if text:
                segments.append(Segment(text, styles[name]))
                used += cells(text)
            text, name = each, its
        used += cells(text)
        rest = self._width - used
        below = name.partition("+")[0]
        filled = below if below in _FILL else TEXT
        if rest > 0 and filled == name:
            text += " " * rest
        if text:
            segments.append(Segment(text, styles[name]))
        if rest > 0 and filled != name:
            segments.append(Segment(" " * rest, styles[filled]))
        made = Strip(segments, max(used, self._width))
        return self._filtered(made.adjust_cell_length(self._width))

    def blank(self) -> Strip:
        """Return a strip without anything on it."""
        return self.strips("", "", lambda: [[]])[0]

    def over(self, strip: Strip, start: int, end: int, name: str) -> Strip:
        """Return a strip whose characters `start` to `end` (-1: its end) have another style."""
        style = Styles(self._look.palette)[name]
        segments: list[Segment] = []
        at = 0
        for text, below, _ in strip:
            first = min(max(0, start - at), len(text))
            last = len(text) if end < 0 else min(max(first, end - at), len(text))
            for piece, is_over in (
                (text[:first], False),
                (text[first:last], True),
                (text[last:], False),
            ):
                if piece:
                    below_style = below or Style()
                    segments.append(Segment(piece, below_style + style if is_over else below))
            at += len(text)
        return Strip(segments, strip.cell_length)

    def with_notice(self, strip: Strip, text: str) -> Strip:
        """Return a strip with a notice at its right end."""
        shown = head(f" {text} ", self._width)
        kept = strip.crop(0, self._width - cells(shown))
        notice = self._filtered(Strip([Segment(shown, self._named("")["notice"])], cells(shown)))
        return Strip([*kept, *notice], self._width)

    def drop(self, key: Hashable) -> None:
        """Let the strips of an item go."""
        for lay in ("", "cursor", "range"):
            self._kept.pop((key, lay), None)

    def forget(self) -> None:
        """Let all strips go."""
        self._kept.clear()

    def _named(self, lay: str) -> Styles:
        found = self._styles.get(lay)
        if found is None:
            found = Styles(self._look.palette, self._base, lay)
            self._styles[lay] = found
        return found

    def _filtered(self, strip: Strip) -> Strip:
        for each in self._filters:
            strip = strip.apply_filter(each, self._background)
        return strip


# What fills its row to the end.
_FILL = frozenset(["file", "hunk", "added", "removed", TEXT])
