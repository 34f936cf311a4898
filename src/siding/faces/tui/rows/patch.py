"""`PatchView`: a patch row by row, with line numbers, colours, comments and folds.

What the rows are is the caller's: a sequence that may change under the view (`spliced`). A view
of 100,000 rows asks for those that it draws.
"""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Line, Pieces, fitted, hits, line_of, overlay, rows_of
from siding.faces.tui.rows.styles import PLAIN_LOOK, TEXT, Look
from siding.faces.tui.rows.words import changed_words
from siding.faces.tui.rows.wrap import height
from siding.faces.tui.text import Span
from siding.ground.namedtuples import NamedTuple

_SIGNS = {"add": "+", "delete": "-"}
_LINES = frozenset(["same", "add", "delete"])
_STYLES = {"add": "added", "delete": "removed"}
_SIGN_STYLES = {"add": "added-sign", "delete": "removed-sign", "same": TEXT}
_LONGEST_COMPARED = 500  # characters of two lines whose words are compared
_BLOCK = 20  # deleted lines that are looked at for the one that an added line replaces


class PatchRow(NamedTuple):
    """A row. `kind` is same, add, delete; file, hunk, note, binary, fold; or comment.

    `old` and `new` are line numbers; None if the row is not on this side. `spans` colour the text
    as it is given. `mark` stands before a title: viewed, changed since, …
    """

    kind: str
    old: int | None
    new: int | None
    text: str
    spans: Sequence[Span] | None = None
    mark: str = ""


class PatchSource(Protocol):
    """The rows of a patch."""

    def __len__(self) -> int: ...

    def __getitem__(self, item: int, /) -> PatchRow: ...


class PatchView(Rows):
    """Shows the rows of `source`."""

    def __init__(
        self,
        source: PatchSource = (),
        *,
        look: Look = PLAIN_LOOK,
        **words: Any,
    ) -> None:
        super().__init__(look=look, **words)
        self._source: PatchSource = source
        self._digits = 3
        if len(source):
            self.appended(len(source))

    @property
    def source(self) -> PatchSource:
        """The rows."""
        return self._source

    def show(self, source: PatchSource) -> None:
        """Show another patch, from its beginning."""
        self._source = source
        self._digits = 3
        self.cursor = self._mark = -1
        self._spot = type(self._spot)(0)
        self.replaced(len(source))

    def spliced(self, at: int, removed: int, added: int) -> None:
        """Take a change of the source in: `removed` rows went at `at`, `added` came."""
        self.forget()
        if removed:
            self.removed(at, removed)
        if added:
            self.inserted(at, added)

    def coloured(self) -> None:
        """Draw anew after colours have come: no height changes by them."""
        self.forget()

    def jump(self, kind: str, step: int) -> bool:
        """Go to the next row of a kind (the one before with -1); False if there is none."""
        item = (
            self.cursor if self.cursor >= 0 else self._heights.find(self.top_row).item - (step > 0)
        )
        item += step
        while 0 <= item < len(self._source):
            if self._source[item].kind == kind:
                self.stand_on(item)
                self.go_to_item(item, above=1)
                return True
            item += step
        return False

    # As `Rows` asks

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the rows of a line: numbers and sign before the first one only."""
        row = self._source[item]
        if row.kind not in _LINES:
            return self._paint_other(row, width)
        gutter = self._gutter(row)
        style = _STYLES.get(row.kind, TEXT)
        spans: Sequence[Span] = row.spans or ()
        if row.kind != "same":
            spans = overlay(spans, self._emphasis(item, row))
        line = line_of(row.text, spans)
        line = Line(line.text, overlay(line.spans, hits(line.text, self.word)))
        sign = (_SIGNS.get(row.kind, " ") + " ", _SIGN_STYLES[row.kind])
        room = (" " * len(gutter), "number")
        lines = rows_of(line, max(1, width - len(gutter) - 2), style)
        return [
            [(gutter, "number") if at == 0 else room, sign if at == 0 else ("  ", style), *pieces]
            for at, pieces in enumerate(lines)
        ]

    def _paint_other(self, row: PatchRow, width: int) -> list[Pieces]:
        end = self.look.mark("ellipsis")
        line = line_of(row.text, row.spans or ())
        line = Line(line.text, overlay(line.spans, hits(line.text, self.word)))
        if row.kind == "comment":
            left = " " * (2 * self._digits + 2)
            edge = (f"{left}{self.look.mark('card-side')} ", "comment")
            return [[edge, *each] for each in rows_of(line, max(1, width - len(left) - 2))]
        mark = f"{row.mark} " if row.mark else ""
        if row.kind == "fold":
            dash = self.look.mark("dash")
            shown = f"{dash * 3} {mark}{line.text} "
            return [fitted([(shown, "fold"), (dash * width, "fold")], width, end=dash)]
        style = row.kind if row.kind in ("file", "hunk") else "dim"
        return [
            fitted([(mark, style), *_first(rows_of(line, max(1, width), style))], width, end=end)
        ]

    def _gutter(self, row: PatchRow) -> str:
        digits = self._digits
        old = "" if row.old is None else str(row.old)
        new = "" if row.new is None else str(row.new)
        if len(old) > digits or len(new) > digits:
            self._digits = digits = max(len(old), len(new))
            self.call_later(self.remeasure)
        return f"{old:>{digits}} {new:>{digits}} "

    def _emphasis(self, item: int, row: PatchRow) -> Sequence[Span]:
        """Return the words of a line that are not in the line of the other side."""
        other = self._partner(item, row.kind)
        if other is None or len(row.text) + len(other.text) > _LONGEST_COMPARED:
            return ()
        old, new = (other.text, row.text) if row.kind == "add" else (row.text, other.text)
        removed, added = changed_words(old, new)
        name, places = ("added-word", added) if row.kind == "add" else ("removed-word", removed)
        return [Span(start, end, name) for start, end in places]

    def _partner(self, item: int, kind: str) -> PatchRow | None:
        """Return the line that this one replaces, or that replaces it.

        Only blocks of as many added as deleted lines are paired: others pair by chance.
        """
        first = item
        while first > 0 and item - first < _BLOCK and self._kind(first - 1) == kind:
            first -= 1
        last = item
        while last - item < _BLOCK and self._kind(last + 1) == kind:
            last += 1
        size = last - first + 1
        other = "delete" if kind == "add" else "add"
        begin = first - size if kind == "add" else last + 1
        if begin < 0 or any(self._kind(at) != other for at in range(begin, begin + size)):
            return None
        beyond = begin - 1 if kind == "add" else begin + size
        return None if self._kind(beyond) == other else self._source[begin + item - first]

    def _kind(self, item: int) -> str:
        return self._source[item].kind if 0 <= item < len(self._source) else ""

    def measure(self, item: int, width: int) -> int:
        """Return how many rows a line takes."""
        row = self._source[item]
        if row.kind in _LINES:
            return height(line_of(row.text).text, max(1, width - 2 * self._digits - 4))
        if row.kind == "comment":
            return height(line_of(row.text).text, max(1, width - 2 * self._digits - 4))
        return 1

    def text_of(self, item: int) -> str:
        """Return the text of a row."""
        return line_of(self._source[item].text).text

    def key_of(self, item: int) -> Hashable:
        """Return the number of the row: a splice lets all strips go."""
        return item

    def is_stop(self, item: int) -> bool:
        """Tell whether it is a row to act on."""
        return self._source[item].kind != "note"


def _first(rows: list[Pieces]) -> Pieces:
    return rows[0]
