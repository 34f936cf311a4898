"""The cells of a screen: rows of characters that are written, moved and erased.

A wide character takes two cells, the second of which is "". Colours and weights are not kept.
"""

from collections import deque

from siding.ground.process.command import WindowSize

BLANK = " "
Row = list[str]


class Grid:
    """One screen. Rows and columns count from 0; what scrolls out at the top goes to `history`."""

    def __init__(self, size: WindowSize, *, history: int = 0) -> None:
        self.height, self.width = size.rows, size.columns
        self.rows: list[Row] = [self._blank() for _ in range(self.height)]
        self.top, self.bottom = 0, self.height - 1  # the scrolling region, both included
        self.history: deque[Row] = deque(maxlen=history)

    def put(self, y: int, x: int, character: str, columns: int) -> None:
        """Write a character that takes one or two columns; what it halves becomes blank."""
        row = self.rows[y]
        for column in range(x, x + columns):
            self._unpair(row, column)
        row[x] = character
        if columns == 2:
            row[x + 1] = ""

    def join(self, y: int, x: int, mark: str) -> None:
        """Put a mark on the character in a cell, or in the one before its second half."""
        row = self.rows[y]
        x -= 1 if row[x] == "" and x else 0
        if len(row[x]) < 16:
            row[x] += mark

    def erase(self, y: int, start: int, end: int) -> None:
        """Make the cells from `start` to before `end` blank."""
        row = self.rows[y]
        start, end = max(0, start), min(self.width, end)
        if start < end:
            self._unpair(row, start)
            self._unpair(row, end - 1)
            row[start:end] = [BLANK] * (end - start)

    def erase_rows(self, start: int, end: int) -> None:
        """Make the rows from `start` to before `end` blank."""
        for y in range(max(0, start), min(self.height, end)):
            self.rows[y] = self._blank()

    def insert_cells(self, y: int, x: int, count: int) -> None:
        """Move the rest of a row to the right."""
        row = self.rows[y]
        self._unpair(row, x)
        count = min(count, self.width - x)
        row[x:x] = [BLANK] * count
        self._cut(row)

    def delete_cells(self, y: int, x: int, count: int) -> None:
        """Move the rest of a row to the left over `count` cells."""
        row = self.rows[y]
        count = min(count, self.width - x)
        self._unpair(row, x)
        self._unpair(row, x + count - 1)
        del row[x : x + count]
        row += [BLANK] * count

    def insert_rows(self, y: int, count: int) -> None:
        """Move the rows of the scrolling region from `y` on down."""
        if self.top <= y <= self.bottom:
            for _ in range(min(count, self.bottom - y + 1)):
                del self.rows[self.bottom]
                self.rows.insert(y, self._blank())

    def delete_rows(self, y: int, count: int) -> None:
        """Move the rows of the scrolling region below `y` up over `count` rows."""
        if self.top <= y <= self.bottom:
            for _ in range(min(count, self.bottom - y + 1)):
                del self.rows[y]
                self.rows.insert(self.bottom, self._blank())

    def scroll_up(self, count: int) -> None:
        """Move the scrolling region up."""
        for _ in range(min(count, self.bottom - self.top + 1)):
            gone = self.rows.pop(self.top)
            if self.top == 0:
                self.history.append(gone)
            self.rows.insert(self.bottom, self._blank())

    def scroll_down(self, count: int) -> None:
        """Move the scrolling region down."""
        self.insert_rows(self.top, count)

    def fill(self, character: str) -> None:
        self.rows = [[character] * self.width for _ in range(self.height)]

    def lines(self) -> list[str]:
        """Return the rows as text, without blanks at their ends."""
        return ["".join(row).rstrip() for row in self.rows]

    def past_lines(self) -> list[str]:
        """Return what was scrolled out at the top, as text."""
        return ["".join(row).rstrip() for row in self.history]

    def _blank(self) -> Row:
        return [BLANK] * self.width

    def _unpair(self, row: Row, x: int) -> None:
        """Make a wide character blank that has one of its halves in the cell."""
        if row[x] == "" and x:
            row[x - 1] = row[x] = BLANK
        elif x + 1 < self.width and row[x + 1] == "":
            row[x] = row[x + 1] = BLANK

    def _cut(self, row: Row) -> None:
        if row[self.width] == "":
            row[self.width - 1] = BLANK
        del row[self.width :]
