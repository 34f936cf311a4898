"""What differs between two snapshots, as the figures of a ledger line."""

from collections.abc import Sequence

from siding.git.paths import quote_path
from siding.git.snapshots.coverage import LISTED
from siding.git.snapshots.modes import ModeChange
from siding.git.snapshots.patches import DiffStat
from siding.ledger.figures import DiffFigures, ModeFigure, ModeFigures


def diff_figures(stat: DiffStat | None) -> DiffFigures:
    """Return a diff stat as a ledger line has it."""
    if stat is None:
        return DiffFigures()
    return DiffFigures(
        files=stat.files,
        additions=stat.additions,
        deletions=stat.deletions,
        file_list=tuple(quote_path(each.path) for each in stat.per_file),
    )


def mode_figures(changes: Sequence[ModeChange]) -> ModeFigures:
    """Return changed permissions as a ledger line has them."""
    first = tuple(
        ModeFigure(
            path=quote_path(each.path) + ("/" if each.is_directory else ""),
            before=f"{each.before:04o}",
            after=f"{each.after:04o}",
        )
        for each in changes[:LISTED]
    )
    return ModeFigures(first, len(changes))
