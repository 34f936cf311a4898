"""Patches for pages: an index that is cached, rows with syntax colours, one or two columns."""

from collections import OrderedDict
from typing import Any

from siding.faces.web.rendering import Page, escaped
from siding.faces.web.request import Ask, one_step
from siding.faces.web.syntax import LONGEST, ColouredFile, ColouredFiles
from siding.feed.board import show
from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.record.recording.freed import refuse_freed_patch
from siding.record.recording.recorded_patches import (
    MARK_EVERY,
    FilePart,
    Row,
    content_of,
    parts_of,
    patch_span,
    rows_of,
    whole_patch,
)
from siding.record.recording.step_details import Span
from siding.record.recording.steps import Step

_KEPT = 8
_INDEXES: OrderedDict[tuple[str, int, int, int], list[FilePart]] = OrderedDict()
_FILES = ColouredFiles()
FILES = 200  # files listed at once
OPENED = 12  # files whose rows are fetched when they come into view; the others on a click


class ShownPatch(NamedTuple):
    """A step's patch and its files."""

    span: Span
    parts: list[FilePart]


class ShownRow(NamedTuple):
    """A row of one column; `html` is escaped and coloured."""

    kind: str
    old: int | None
    new: int | None
    html: str
    more: int


class Pair(NamedTuple):
    """A row of two columns; None for a side without a line."""

    left: ShownRow | None
    right: ShownRow | None


def parts_of_step(ask: Ask, step: Step) -> ShownPatch | None:
    """Return the patch of a step; None when it has none."""
    return _indexed(patch_span(ask.project, show(ask.project, ask.task_id)[0], step))


def patch_of(ask: Ask) -> ShownPatch | None:
    """Return the patch for the address: a step's, or the whole change of the task."""
    if "step" in ask.words:
        return parts_of_step(ask, one_step(ask))
    return _indexed(whole_patch(ask.project, show(ask.project, ask.task_id)[0]))


def _indexed(span: Span | None) -> ShownPatch | None:
    """Return a patch with its files; the list of files is cached while the patch's file is."""
    if span is None:
        return None
    found = span.path.lstat()
    key = (str(span.path), found.st_size, found.st_mtime_ns, found.st_ino)
    parts = _INDEXES.get(key)
    if parts is None:
        parts = parts_of(span)
        _INDEXES[key] = parts
        while len(_INDEXES) > _KEPT:
            _INDEXES.popitem(last=False)
    return ShownPatch(span=span, parts=parts)


def shown(ask: Ask, part: FilePart, rows: list[Row]) -> list[ShownRow]:
    """Return rows as HTML, with the colours that their lines have in the whole old or new file."""

    def side(name: str, blob: str) -> ColouredFile | None:
        return _FILES.get(blob, name, lambda: content_of(ask.project, blob, LONGEST))

    kinds = {row.kind for row in rows}
    new_side = side(part.name, part.new_blob) if kinds & {"same", "add"} else None
    old_side = side(part.old_name, part.old_blob) if "delete" in kinds else None
    return [
        ShownRow(
            kind=row.kind,
            old=row.old,
            new=row.new,
            html=_html(row, old_side, new_side),
            more=row.more,
        )
        for row in rows
    ]


def _html(row: Row, old_side: ColouredFile | None, new_side: ColouredFile | None) -> str:
    side, number = (old_side, row.old) if row.kind == "delete" else (new_side, row.new)
    found = None if side is None or row.more else side.line(number, row.text)
    return plain(row.text) if found is None else found


def plain(text: str) -> str:
    """Return text as HTML without colours."""
    return escaped(text)


def side_by_side(rows: list[ShownRow]) -> list[Pair]:
    """Arrange rows in two columns: deleted lines beside the lines added in their place."""
    pairs: list[Pair] = []
    deleted: list[ShownRow] = []
    added: list[ShownRow] = []

    def settle() -> None:
        for number in range(max(len(deleted), len(added))):
            left = deleted[number] if number < len(deleted) else None
            right = added[number] if number < len(added) else None
            pairs.append(Pair(left=left, right=right))
        deleted.clear()
        added.clear()

    for row in rows:
        if row.kind == "delete":
            if added:
                settle()
            deleted.append(row)
        elif row.kind == "add":
            added.append(row)
        else:
            settle()
            pairs.append(Pair(left=row, right=row))
    settle()
    return pairs


def files(ask: Ask) -> Page:
    """Show FILES files of a patch, from the number `from` on."""
    patch = patch_of(ask)
    first = ask.number("from", 0)
    parts = list(enumerate(patch.parts if patch else []))
    values = {
        "files": parts[first : first + FILES],
        "opened": OPENED if first == 0 else 0,
        "more": max(0, len(parts) - first - FILES),
        "next": first + FILES,
        "base": _base(ask),
        "is_first": first == 0,
        "mode": ask.choice("mode", "unified", "split"),
    }
    return Page("files.html", "", values)


def rows(ask: Ask) -> Page:
    """Show MARK_EVERY rows of one file of a patch, from the row `from` on."""
    patch = patch_of(ask)
    number = ask.number("file", 0)
    if patch is None or number >= len(patch.parts):
        raise NotFound("the patch has no such file")
    part = patch.parts[number]
    first = ask.number("from", 0)
    found = shown(ask, part, rows_of(patch.span, part, first, MARK_EVERY))
    mode = ask.choice("mode", "unified", "split")
    values: dict[str, Any] = {
        "rows": found if mode == "unified" else side_by_side(found),
        "next": first + MARK_EVERY if first + MARK_EVERY < part.rows else None,
        "left": max(0, part.rows - first - MARK_EVERY),
        "file": number,
        "mode": mode,
        "base": _base(ask),
    }
    return Page("rows.html", "", values)


def _base(ask: Ask) -> str:
    """Return the beginning of the addresses of a patch's pieces."""
    if "step" in ask.words:
        return f"/tasks/{ask.task_id}/steps/{one_step(ask).number}"
    return f"/tasks/{ask.task_id}/changes"


def files_json(ask: Ask) -> dict[str, Any]:
    """Return the files of a step's patch."""
    step = one_step(ask)
    found = parts_of_step(ask, step)
    if found is None:
        refuse_freed_patch(ask.project, ask.task_id, step)
    return {
        "files": [
            {
                "name": part.name,
                "old_name": part.old_name,
                "status": part.status,
                "binary": part.is_binary,
                "additions": part.additions,
                "deletions": part.deletions,
            }
            for part in (found.parts if found else ())
        ]
    }
