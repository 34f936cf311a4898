"""Print a table: columns aligned, and cut where the terminal is narrow."""

from collections.abc import Iterable, Sequence

from siding.faces.cli.screen.screen import Screen, columns_of, inert, shorten

_GAP = "  "  # between the columns of a table
NARROWEST = 6  # columns that a cell keeps on a narrow terminal


def print_table(
    screen: Screen,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    dim: Sequence[bool] = (),
) -> None:
    """Print rows under a header, columns aligned; on a terminal no line is longer than it.

    The widest columns are cut first. In a pipe or a file nothing is cut. `dim` tells of each
    row whether it is printed dim; those that it does not reach are not.
    """
    # Padding goes by columns: that takes 1 ms for a list of a thousand tasks.
    columns = [_aligned(cells) for cells in zip(header, *rows, strict=True)]
    if screen.columns is not None:
        columns = _fitted(columns, screen.columns)
    top, *lines = (_GAP.join(cells).rstrip() for cells in zip(*columns, strict=True))
    screen.print(screen.style(top, "dim"))
    for number, line in enumerate(lines):
        is_dim = number < len(dim) and dim[number]
        screen.print(screen.style(line, "dim") if is_dim else line)


def _aligned(cells: Sequence[str]) -> list[str]:
    """Return the cells of a column, inert and of one width."""
    everything = "".join(cells)
    if everything.isascii() and everything.isprintable():
        width = max(map(len, cells))
        return [cell.ljust(width) for cell in cells]
    shown = [inert(cell) for cell in cells]
    widths = [columns_of(cell) for cell in shown]
    most = max(widths)
    return [cell + " " * (most - width) for cell, width in zip(shown, widths, strict=True)]


def _fitted(columns: list[list[str]], room: int) -> list[list[str]]:
    """Return the columns cut so that they and the gaps between them fit into `room`."""
    widths = [columns_of(cells[0]) for cells in columns]
    allowed = fit(widths, room - len(_GAP) * (len(columns) - 1))
    return [
        cells if allow >= width else _aligned([shorten(cell.rstrip(), allow) for cell in cells])
        for cells, width, allow in zip(columns, widths, allowed, strict=True)
    ]


def fit(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that sum to `room` at most: the widest are made equal, none below 6.

    Where even that does not fit, the table is as narrow as it can be.
    """
    fitted = list(widths)
    over = sum(fitted) - room
    while over > 0:
        widest = max(fitted)
        if widest <= NARROWEST:
            break
        wide = [index for index, width in enumerate(fitted) if width == widest]
        below = max((width for width in fitted if width < widest), default=0)
        # Rounded down: rounded up, the last of many would stay wide beside narrow ones.
        step = min(widest - max(below, NARROWEST), max(1, over // len(wide)))
        for index in wide[: over // step]:
            fitted[index] -= step
        over = sum(fitted) - room
    return fitted
