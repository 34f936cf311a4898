"""The heights of many items: which item is at a row, and where an item begins. Pure.

Items are kept in chunks with a sum each, so that finding, appending and changing cost the same for
100,000 items as for 1,000. The heights of a chunk are exact or estimates: whoever changes the
width makes all of them estimates, and measures the chunks that a person sees first.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from siding.ground.namedtuples import NamedTuple

CHUNK = 256
# Of all chunks that were never measured, so that a hundred million lines need no room of their own.
_ESTIMATES = array("I", [1]) * CHUNK


class Found(NamedTuple):
    """An item, and the row inside it (from 0)."""

    item: int
    row: int


class Heights:
    """Heights by item. A height of 0 is an item that is not shown."""

    def __init__(self) -> None:
        self._chunks: list[array[int]] = []
        self._sums: list[int] = []
        self._exact = bytearray()
        self._firsts: list[int] = [0]  # the first item of each chunk, and the end
        self._tops: list[int] = [0]  # the first row of each chunk, and the end
        self._known = 0  # chunks whose entries in both are right

    def __len__(self) -> int:
        self._index()
        return self._firsts[-1]

    @property
    def total(self) -> int:
        """The rows of all items."""
        self._index()
        return self._tops[-1]

    def __getitem__(self, item: int) -> int:
        chunk, place = self._place(item)
        return self._chunks[chunk][place]

    def __iter__(self) -> Iterator[int]:
        for chunk in self._chunks:
            yield from chunk

    def append(self, height: int) -> None:
        """Add an item at the end."""
        if not self._chunks or len(self._chunks[-1]) >= CHUNK:
            self._index()
            self._chunks.append(array("I"))
            self._sums.append(0)
            self._exact.append(1)
            self._firsts.append(self._firsts[-1])
            self._tops.append(self._tops[-1])
            self._known += 1
        self._chunks[-1].append(height)
        self._sums[-1] += height
        if self._known == len(self._chunks):
            self._firsts[-1] += 1
            self._tops[-1] += height

    def extend(self, count: int, estimate: int = 1) -> None:
        """Add `count` items whose heights are estimates."""
        self._drop(len(self._chunks) - 1)
        room = CHUNK - len(self._chunks[-1]) if self._chunks else 0
        if room > 0 and count:
            added = min(room, count)
            self._chunks[-1].extend([estimate] * added)
            self._sums[-1] += estimate * added
            self._exact[-1] = 0
            count -= added
        while count > 0:
            added = min(CHUNK, count)
            is_usual = estimate == 1 and added == CHUNK
            self._chunks.append(_ESTIMATES if is_usual else array("I", [estimate]) * added)
            self._sums.append(estimate * added)
            self._exact.append(0)
            count -= added

    def insert(self, item: int, heights: Iterable[int], *, is_exact: bool = True) -> None:
        """Add items before `item`, which may be the end. They may be estimates."""
        added = array("I", heights)
        if item == len(self):
            first = len(self._chunks)
            for height in added:
                self.append(height)
            if not is_exact and added:
                for chunk in range(max(0, first - 1), len(self._chunks)):
                    self._exact[chunk] = 0
            return
        chunk, place = self._place(item)
        whole = self._chunks[chunk][:place] + added + self._chunks[chunk][place:]
        if not is_exact:
            self._exact[chunk] = 0
        self._replace(chunk, whole)

    def remove(self, item: int, count: int) -> None:
        """Take `count` items away, from `item` on."""
        while count > 0:
            chunk, place = self._place(item)
            kept = self._chunks[chunk]
            gone = min(count, len(kept) - place)
            self._replace(chunk, kept[:place] + kept[place + gone :])
            count -= gone

    def set(self, item: int, height: int) -> None:
        """Change the height of one item."""
        chunk, place = self._place(item)
        before = self._chunks[chunk][place]
        if before != height:
            if self._chunks[chunk] is _ESTIMATES:
                self._chunks[chunk] = _ESTIMATES[:]
            self._chunks[chunk][place] = height
            self._sums[chunk] += height - before
            self._drop(chunk)

    def clear(self) -> None:
        """Take all items away."""
        del self._chunks[:], self._sums[:], self._exact[:], self._firsts[1:], self._tops[1:]
        self._known = 0

    def find(self, row: int) -> Found:
        """Return the item at a row; the last shown one for rows beyond the end, (0, 0) if none."""
        self._index()
        if row < 0 or not self._tops[-1]:
            row = 0
        row = min(row, self._tops[-1] - 1)
        if row < 0:
            return Found(0, 0)
        chunk = bisect_right(self._tops, row) - 1
        rest = row - self._tops[chunk]
        for place, height in enumerate(self._chunks[chunk]):
            if rest < height:
                return Found(self._firsts[chunk] + place, rest)
            rest -= height
        raise AssertionError("a chunk's sum is not that of its heights")

    def top(self, item: int) -> int:
        """Return the first row of an item; the end for the item after the last."""
        self._index()
        if item >= self._firsts[-1]:
            return self._tops[-1]
        chunk, place = self._place(item)
        return self._tops[chunk] + sum(self._chunks[chunk][:place])

    def chunk_of(self, item: int) -> int:
        """Return the number of the chunk of an item."""
        return self._place(item)[0]

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return len(self._chunks)

    def items(self, chunk: int) -> range:
        """Return the items of a chunk."""
        self._index()
        return range(self._firsts[chunk], self._firsts[chunk + 1])

    def is_exact(self, chunk: int) -> bool:
        """Tell whether the heights of a chunk were measured at the present width."""
        return bool(self._exact[chunk])

    @property
    def are_exact(self) -> bool:
        """Tell whether all heights were measured."""
        return 0 not in self._exact

    @property
    def measured_items(self) -> int:
        """About how many heights were measured."""
        return self._exact.count(1) * CHUNK

    def measured(self, chunk: int, heights: Sequence[int]) -> None:
        """Keep the exact heights of a chunk."""
        assert len(heights) == len(self._chunks[chunk])
        total = sum(heights)
        if total != self._sums[chunk]:
            self._drop(chunk)
        self._chunks[chunk] = array("I", heights)
        self._sums[chunk] = total
        self._exact[chunk] = 1

    def estimate_all(self) -> None:
        """Make all heights estimates, as after a change of the width."""
        self._exact = bytearray(len(self._chunks))

    def _place(self, item: int) -> tuple[int, int]:
        self._index()
        if not 0 <= item < self._firsts[-1]:
            raise IndexError(item)
        chunk = bisect_right(self._firsts, item) - 1
        return chunk, item - self._firsts[chunk]

    def _replace(self, chunk: int, heights: "array[int]") -> None:
        """Put other heights in the place of a chunk: in none, one or more chunks."""
        pieces = [heights[at : at + CHUNK] for at in range(0, len(heights), CHUNK)]
        exact = self._exact[chunk : chunk + 1]
        self._chunks[chunk : chunk + 1] = pieces
        self._sums[chunk : chunk + 1] = [sum(piece) for piece in pieces]
        self._exact[chunk : chunk + 1] = exact * len(pieces)
        self._drop(chunk)

    def _drop(self, chunk: int) -> None:
        self._known = max(0, min(self._known, chunk))

    def _index(self) -> None:
        """Make the sums before each chunk right, from the first wrong one on."""
        if self._known == len(self._chunks) == len(self._tops) - 1:
            return
        del self._firsts[self._known + 1 :], self._tops[self._known + 1 :]
        first, top = self._firsts[-1], self._tops[-1]
        for chunk, height in zip(
            self._chunks[self._known :], self._sums[self._known :], strict=True
        ):
            first += len(chunk)
            top += height
            self._firsts.append(first)
            self._tops.append(top)
        self._known = len(self._chunks)
