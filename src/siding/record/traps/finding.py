"""Find the traps among changed paths. What it costs follows the paths that changed."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from siding.agents.traps import LARGEST, Table, TrapRow, part_of
from siding.ground.errors import UsageError
from siding.ground.git.paths import quote_path
from siding.ground.hashing import sha256_hex
from siding.record.ledger.reports import Trap
from siding.record.place.project import Project
from siding.record.snapshots.patches import Change, DiffStat
from siding.record.snapshots.store import SnapshotStore
from siding.record.traps.settings import trap_settings

_LINK = "120000"
LINK_OUT = TrapRow("whoever follows it", "when the link, which leads out, is followed", "")
ReadBlobs = Callable[[Sequence[str]], Mapping[str, bytes]]  # what is too large or gone is left out


def traps_of_step(project: Project, stat: DiffStat | None) -> tuple[Trap, ...]:
    """Return the traps among the changes of a step.

    A mistake in the settings must not keep a step from being recorded: then the table counts as it
    comes, and the mistake is told.
    """
    if stat is None or not stat.per_file:
        return ()
    try:
        table = trap_settings(project).table
    except UsageError as error:
        project.app.warn(f"traps are listed as if nothing was set: {error.message}")
        table = Table.usual()
    changes = (each.change._replace(path=each.path) for each in stat.per_file if each.change)
    return find_traps(table, changes, reader_of(project.snapshots))


def reader_of(store: SnapshotStore) -> ReadBlobs:
    """Return the function with which blobs of a store are read."""
    return lambda shas: store.read_blobs(shas, LARGEST)


def find_traps(table: Table, changes: Iterable[Change], read: ReadBlobs) -> tuple[Trap, ...]:
    """Return the traps among the changes, in the order of their paths. A removed file is none."""
    found: list[tuple[Change, TrapRow | None]] = []
    for change in changes:
        row = None if change.status == "D" else table.row_of(change.path)
        if row is not None or (change.new_mode == _LINK and change.status != "D"):
            found.append((change, row))
    contents = read(sorted(set(_wanted(found)))) if found else {}
    traps = (_trap(change, row, contents) for change, row in found)
    return tuple(sorted((trap for trap in traps if trap is not None), key=lambda each: each.path))


def _wanted(found: Iterable[tuple[Change, TrapRow | None]]) -> Iterator[str]:
    """Yield the ids of the contents that have to be read."""
    for change, row in found:
        if row is None:
            yield change.new_sha
        elif row.part:
            yield change.new_sha
            if _is_same_path(change):
                yield change.old_sha


def _trap(change: Change, row: TrapRow | None, contents: Mapping[str, bytes]) -> Trap | None:
    whole = f"{change.new_mode} {change.new_sha}"
    if row is None:
        target = contents.get(change.new_sha)
        if target is not None and not leads_out(change.path, target):
            return None
        return _made(change, LINK_OUT, whole)
    content = contents.get(change.new_sha) if row.part else None
    if content is None or change.new_mode == _LINK:
        return _made(change, row, whole)
    part = part_of(content, row.part)
    if not part:
        return None
    if _is_same_path(change):
        before = contents.get(change.old_sha)
        if before is not None and part_of(before, row.part) == part:
            return None
    return _made(change, row, f"part {sha256_hex(part)}")


def _made(change: Change, row: TrapRow, content: str) -> Trap:
    path = quote_path(change.path)
    return Trap(
        path=path,
        by=row.by,
        when=row.when,
        how="changed" if _is_same_path(change) else "made",
        content=sha256_hex(json.dumps([path, content]).encode()),
    )


def _is_same_path(change: Change) -> bool:
    return change.status in ("M", "T")


def leads_out(path: bytes, target: bytes) -> bool:
    """Tell whether a link at `path` leads out of the workspace, or into its ``.git``."""
    if target.startswith(b"/"):
        return True
    where = os.path.normpath(os.path.join(os.path.dirname(path), target))
    first = where.split(b"/", 1)[0]
    return first == b".." or first.lower() == b".git"
