"""Where what a person looked at stands in another patch: found by what it says, not by number.

`near` reads a few windows of rows, so that it may be called in the loop; `far` reads a whole file,
and is called in a thread.
"""

from collections.abc import Iterable

from siding.faces.tui.places.task.source import At, PatchSource
from siding.faces.tui.rows.patch import PatchRow
from siding.ground.namedtuples import NamedTuple
from siding.record.recording.recorded_patches import MARK_EVERY, Row, rows_of

_BESIDE = 1  # windows on each side of where it should be


class Anchor(NamedTuple):
    """What stands at an item, by what it says and not by its number."""

    path: str
    at: At
    row: PatchRow


class Found(NamedTuple):
    """Where it stands now, -1 if its file is gone. It may stand farther off unless it `is_sure`."""

    item: int
    is_sure: bool = True


def anchor_of(source: PatchSource, item: int) -> Anchor | None:
    """Return what stands at an item; None if there is nothing that could be found again."""
    if not 0 <= item < len(source):
        return None
    at = source.at(item)
    return None if at.file < 0 else Anchor(source.part(at.file).path, at, source[item])


def near(anchor: Anchor | None, source: PatchSource) -> Found:
    """Return where it stands in another patch: the same line, else the nearest one close by."""
    if anchor is None:
        return Found(-1)
    file = _file_of(anchor, source)
    if file < 0:
        return Found(-1)
    at = anchor.at
    title = source.item_of(file)
    if at.comment:
        found = source.item_of(file, comment=at.comment)
        return Found(found if found >= 0 else title)
    if at.fold >= 0:
        found = source.item_of_fold(file, at.fold, anchor.row.new or 0)
        return Found(found if found >= 0 else title)
    if at.kind == "file" or at.hunk < 0 or source.file(file).folded:
        return Found(title)
    if at.row < 0 or anchor.row.kind == "hunk":
        hunk = min(at.hunk, len(source.shape.hunks[file]) - 1)
        return Found(source.item_of(file, hunk=hunk) if hunk >= 0 else title)
    here = source.shape.row_near(file, _line(anchor), is_old=_is_old(anchor)) // MARK_EVERY
    first = max(0, here - _BESIDE) * MARK_EVERY
    end = min(source.part(file).rows, (here + 1 + _BESIDE) * MARK_EVERY)
    rows = ((number, source.shape.row(file, number)) for number in range(first, end))
    return _best(anchor, source, file, rows, is_all=first == 0 and end == source.part(file).rows)


def far(anchor: Anchor, source: PatchSource) -> int:
    """Return where it stands in another patch, wherever in its file; -1 if its file is gone."""
    file, span = _file_of(anchor, source), source.change.span
    if file < 0 or span is None:
        return -1
    part = source.part(file)
    rows = (
        (start + number, row)
        for start in range(0, part.rows, MARK_EVERY)
        for number, row in enumerate(rows_of(span, part, start, MARK_EVERY))
    )
    return _best(anchor, source, file, rows, is_all=True).item


def _file_of(anchor: Anchor, source: PatchSource) -> int:
    parts = source.change.parts
    return next((n for n, part in enumerate(parts) if part.path == anchor.path), -1)


def _is_old(anchor: Anchor) -> bool:
    return anchor.row.kind == "delete"


def _line(anchor: Anchor) -> int:
    return (anchor.row.old if _is_old(anchor) else anchor.row.new) or 0


def _best(
    anchor: Anchor,
    source: PatchSource,
    file: int,
    rows: Iterable[tuple[int, Row]],
    *,
    is_all: bool,
) -> Found:
    """Return the row with this text that is nearest to where it was; else the nearest row."""
    is_old, place, wanted = _is_old(anchor), _line(anchor), anchor.row
    best, best_key = -1, (2, 0)
    for number, row in rows:
        line = row.old if is_old else row.new
        if line is None or row.kind == "hunk":
            continue
        key = (int(source.text(row) != wanted.text or row.kind != wanted.kind), abs(line - place))
        if key < best_key:
            best, best_key = number, key
    title = source.item_of(file)
    if best < 0:
        return Found(title, is_all)
    found = source.item_of(file, row=best)
    return Found(found if found >= 0 else title, is_all or best_key[0] == 0)
