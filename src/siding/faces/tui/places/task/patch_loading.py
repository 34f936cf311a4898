"""Read a patch with all that is shown of it, in a thread."""

from collections.abc import Mapping

from siding.faces.tui.places.task.changes import Since
from siding.faces.tui.places.task.reading import (
    Opened,
    PatchRead,
    files_of,
    read_first,
    read_patch,
    seen_of,
)
from siding.faces.tui.places.task.source import File
from siding.ground.namedtuples import NamedTuple
from siding.looks.marks import FileSeen


class Loaded(NamedTuple):
    """A patch, what the person has seen of it, and what the screen knows of its files."""

    read: PatchRead
    seen: list[FileSeen]
    files: dict[int, File]


def load_first(opened: Opened) -> Loaded | None:
    """Return the patch as it is recorded; None if that has to be worked out."""
    read = read_first(opened)
    return None if read is None else Loaded(read, [], files_of(read, [], {}))


def load(
    opened: Opened, since: Since, before: PatchRead | None, shown: Mapping[int, File]
) -> Loaded:
    """Return the patch as it is now."""
    read = read_patch(opened, since, before)
    names = [part.path for part in before.change.parts] if before is not None else []
    kept = {names[number]: file for number, file in shown.items() if number < len(names)}
    own = {
        number: kept[part.path]
        for number, part in enumerate(read.change.parts)
        if part.path in kept
    }
    seen = seen_of(opened, read)
    return Loaded(read, seen, files_of(read, seen, own))
