"""Which hunks change white space alone. Reads all rows of the patch: called in a thread."""

from collections.abc import Iterable

from siding.faces.tui.places.task.source import Shape
from siding.record.recording.recorded_patches import rows_of

_LONGEST = 20_000  # rows of a file that are compared


def white_hunks(shape: Shape) -> dict[int, frozenset[int]]:
    """Return by file the hunks whose deleted and added lines say the same without white space."""
    found: dict[int, frozenset[int]] = {}
    for number, part in enumerate(shape.change.parts):
        if shape.change.span is None or part.rows > _LONGEST:
            continue
        rows = rows_of(shape.change.span, part, 0, part.rows)
        white = set()
        for hunk in range(len(shape.hunks[number])):
            first, end = shape.rows_in(number, hunk)
            own = rows[first:end]
            gone = _bare(row.text for row in own if row.kind == "delete")
            came = _bare(row.text for row in own if row.kind == "add")
            if gone == came and not any(row.more for row in own):
                white.add(hunk)
        if white:
            found[number] = frozenset(white)
    return found


def _bare(texts: Iterable[str]) -> str:
    return "".join("".join(text.split()) for text in texts)
