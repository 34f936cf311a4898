"""How a list of sessions looks."""

from collections.abc import Sequence
from datetime import UTC, datetime
from os.path import basename

from siding.faces.cli.screen.screen import Screen, columns_of, inert, shorten
from siding.faces.cli.screen.words import ago
from siding.sessions.finding import FoundSession, SessionListing

_HEADER = ("ID", "CLIENT", "LAST", "MESSAGES", "TASK", "TITLE")


def print_sessions(
    screen: Screen, listing: SessionListing, shown: list[FoundSession], *, wide: bool
) -> None:
    """Print the sessions; `wide` adds the directory each was held in."""
    if not shown:
        screen.note("no session here; `siding session list --all` shows those of every project")
        return
    header = (*_HEADER[:-1], "PROJECT", _HEADER[-1]) if wide else _HEADER
    screen.table(header, [cells_of(row, listing.names[row.id], wide=wide) for row in shown])


def cells_of(row: FoundSession, name: str, *, wide: bool) -> tuple[str, ...]:
    """Return what a list says of one session."""
    return (
        name,
        row.client,
        ago(datetime.fromtimestamp(row.changed_at, UTC).isoformat()),
        "-" if row.messages is None else str(row.messages),
        row.task or "-",
        *((basename(row.cwd) or "-",) if wide else ()),
        shorten(row.name, 70),
    )


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return a line for each row, with the columns aligned."""
    safe = [tuple(map(inert, row)) for row in rows]
    widths = [max(map(columns_of, column)) for column in zip(*safe, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - columns_of(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in safe
    ]
