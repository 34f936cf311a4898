"""Break a line into rows that are no wider than the screen. Pure.

The text has no tabs and no controls (`lines.py` sees to it). Words stay whole where they fit. The
space at a break is in no row; everything else is in exactly one.
"""

from functools import lru_cache

from rich.cells import get_character_cell_size, split_graphemes

from siding.ground.namedtuples import NamedTuple


class Part(NamedTuple):
    """The characters of a row: from `start` up to `end`."""

    start: int
    end: int


def wrap(text: str, width: int) -> list[Part]:
    """Return the rows of a text, one at least. Only a character wider than `width` overflows."""
    width = max(1, width)
    if text.isascii():
        return _wrap_narrow(text, width)
    return _wrap_cells(text, width)


def height(text: str, width: int) -> int:
    """Return how many rows a text takes."""
    if len(text) <= width and text.isascii():
        return 1
    return len(wrap(text, width))


def _wrap_narrow(text: str, width: int) -> list[Part]:
    """Break a text whose characters take one cell each."""
    size, start = len(text), 0
    rows = []
    while size - start > width:
        end = _break(text, start, start + width)
        rows.append(Part(start, end))
        start = end + (text[end] == " ")
    if start < size or not rows:
        rows.append(Part(start, size))
    return rows


def _break(text: str, start: int, limit: int) -> int:
    """Return where a row ends that begins at `start` and may go up to `limit`."""
    if text[limit] == " ":
        return limit
    space = text.rfind(" ", start, limit)
    if space <= start or text[start:space].isspace():  # one word, or only an indent before it
        return limit
    return space


def _wrap_cells(text: str, width: int) -> list[Part]:
    """Break a text of which some characters take two cells, or none."""
    rows: list[Part] = []
    start = used = 0
    for at, _after, size in _graphemes(text):
        while used + size > width and at > start:
            end = _break(text, start, at)
            rows.append(Part(start, end))
            start = end + (text[end] == " ")
            used = _width(text, start, at)
        if at >= start:  # else it is the space at the break
            used += size
    if start < len(text) or not rows:
        rows.append(Part(start, len(text)))
    return rows


def _graphemes(text: str) -> list[tuple[int, int, int]]:
    """Return what is drawn as one: its start, its end, its cells."""
    if "\u200d" in text or "\ufe0f" in text:
        return split_graphemes(text)[0]
    found: list[tuple[int, int, int]] = []
    for at, character in enumerate(text):
        size = 1 if character < "\x7f" else _size(character)
        if size or not found:
            found.append((at, at + 1, size))
    return found


def _width(text: str, start: int, end: int) -> int:
    return sum(size for _, _, size in _graphemes(text[start:end])) if start < end else 0


@lru_cache(maxsize=8192)
def _size(character: str) -> int:
    return get_character_cell_size(character)
