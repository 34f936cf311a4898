"""Patches for pages: their index remembered, rows with syntax colours, one side or two."""

from collections import OrderedDict
from typing import NamedTuple

from siding.app.outputs import Span
from siding.app.patch_files import FilePart, Row, parts_of, patch_span, whole_patch
from siding.app.steps import Step
from siding.app.tasks import show
from siding.web.ask import Ask
from siding.web.stepping import one_step
from siding.web.syntax import coloured

_KEPT = 8
_INDEXES: OrderedDict[tuple[str, int, int, int], list[FilePart]] = OrderedDict()


class Patch(NamedTuple):
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
    """A row of two columns; None where a side has nothing."""

    left: ShownRow | None
    right: ShownRow | None


def parts_of_step(ask: Ask, step: Step) -> Patch | None:
    """Return the patch of a step."""
    return _indexed(patch_span(ask.project, show(ask.project, ask.task_id)[0], step))


def patch_of(ask: Ask) -> Patch | None:
    """Return the patch that the address means: of a step, or of all that the task changed."""
    if "step" in ask.words:
        return parts_of_step(ask, one_step(ask))
    return _indexed(whole_patch(ask.project, show(ask.project, ask.task_id)[0]))


def _indexed(span: Span | None) -> Patch | None:
    """Return a patch with its files; the index is made once for a file that stays the same."""
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
    return Patch(span=span, parts=parts)


def shown(part: FilePart, rows: list[Row]) -> list[ShownRow]:
    """Return rows with colours. Each side is coloured as the text it is."""
    new_side = coloured(
        part.name, [row.text if row.kind in ("same", "add") else "" for row in rows]
    )
    old_side = coloured(part.old_name, [row.text if row.kind == "delete" else "" for row in rows])
    return [
        ShownRow(
            kind=row.kind,
            old=row.old,
            new=row.new,
            html=plain(row.text)
            if row.kind in ("hunk", "note")
            else (old_side if row.kind == "delete" else new_side)[number],
            more=row.more,
        )
        for number, row in enumerate(rows)
    ]


def plain(text: str) -> str:
    """Return text without colours."""
    from siding.web.rendering import escaped

    return escaped(text)


def side_by_side(rows: list[ShownRow]) -> list[Pair]:
    """Pair what was deleted with what was added in its place."""
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
