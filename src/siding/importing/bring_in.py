"""Import what other task tools keep in a repository.

Nothing of the source is changed. Every file that was read is kept, byte for byte, in ``imports/``
of the project, with the fields and events that have no place elsewhere. The same import again finds
everything there and changes nothing.
"""

import os
from pathlib import Path

from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.hashing import sha256_hex
from siding.importing.aide import bring_in_aide
from siding.importing.board import BoardImport
from siding.importing.source import WORKTREES, Source, read_source
from siding.importing.tasks import Fate, ImportReport, Item
from siding.record.place.project import Project

IMPORTS = "imports"


def import_records(project: Project | None, source: Source, *, dry_run: bool) -> ImportReport:
    """Bring in what the source has that is not there yet; with `dry_run` only say what that is.

    What cannot be brought in is named in the report, and the rest is brought in.
    """
    place = _place_of(project, source.root)
    board = BoardImport(project, source, place, dry_run=dry_run)
    items = list(board.items())
    items += bring_in_aide(project, source, place, dry_run=dry_run)
    kept = _keep_files(project, source, place, dry_run=dry_run)
    if source.board.events:
        fate = Fate.NEW if f"{WORKTREES}/events.jsonl" in kept else Fate.THERE
        items.append(Item("events", f"{source.board.events} events", fate, note="kept as they are"))
    return ImportReport(tuple(items), (*source.problems, *board.problems))


def _place_of(project: Project | None, root: Path) -> str:
    """Return the name of a source.

    Inside the repository it is the path in the worktree: the repository can be moved, and a board
    that is tracked is the same one in every worktree.
    """
    real = Path(os.path.realpath(root))
    try:
        around = find_repository(real)
    except NotARepository:
        return str(real)
    if project is None or around.common_dir != project.paths.common_dir:
        return str(real)
    if around.worktree is None:
        return str(real)
    return real.relative_to(around.worktree).as_posix()


def _keep_files(
    project: Project | None, source: Source, place: str, *, dry_run: bool
) -> frozenset[str]:
    """Copy the files into the project; return the names of those that were not there as they are.

    A file that changed since the last import is kept beside the copy of before.
    """
    if project is None:
        return frozenset(source.files)
    directory = project.layout.root / IMPORTS / sha256_hex(os.fsencode(place))[:12]
    new = set()
    for name, raw in source.files.items():
        usual = directory / name
        changed = usual.with_name(f"{usual.name}.{sha256_hex(raw)[:12]}")
        if any(_has(path, raw) for path in (usual, changed)):
            continue
        new.add(name)
        if not dry_run:
            make_dirs(usual.parent)
            create_bytes(changed if os.path.lexists(usual) else usual, raw)
    return frozenset(new)


def _has(path: Path, raw: bytes) -> bool:
    try:
        return read_bytes(path) == raw
    except FileNotFoundError:
        return False


__all__ = ["Fate", "ImportReport", "Item", "import_records", "read_source"]
