"""Coordinates for small bar charts, drawn as inline SVG with a table of the same numbers."""

from collections.abc import Sequence

from siding.ground.namedtuples import NamedTuple

WIDTH, HEIGHT = 640, 140
_MOST_BARS = 120


class Bar(NamedTuple):
    """One column: its position, the heights of its two parts, and its label and values."""

    x: float
    width: float
    low: float  # height of the lower part
    high: float  # height of the part on top of it
    label: str
    values: tuple[int, int]


class Chart(NamedTuple):
    """Columns of two parts each, drawn in `WIDTH` by `HEIGHT`; `most` is the top of the scale."""

    bars: tuple[Bar, ...]
    most: int
    width: int = WIDTH
    height: int = HEIGHT


def chart(rows: Sequence[tuple[str, int, int]]) -> Chart | None:
    """Return the columns for (label, lower, upper) rows; None when all values are 0.

    With more than `_MOST_BARS` rows, neighbours are added up.
    """
    joined = _joined(rows)
    most = max((low + high for _, low, high in joined), default=0)
    if not most:
        return None
    step = WIDTH / max(len(joined), 12)
    bars = [
        Bar(
            x=round(number * step + step * 0.12, 2),
            width=round(step * 0.76, 2),
            low=round(HEIGHT * low / most, 2),
            high=round(HEIGHT * high / most, 2),
            label=label,
            values=(low, high),
        )
        for number, (label, low, high) in enumerate(joined)
    ]
    return Chart(bars=tuple(bars), most=most)


def _joined(rows: Sequence[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    size = -(-len(rows) // _MOST_BARS) or 1
    groups = [rows[at : at + size] for at in range(0, len(rows), size)]
    return [
        (group[0][0], sum(row[1] for row in group), sum(row[2] for row in group))
        for group in groups
    ]
