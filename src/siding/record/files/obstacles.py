"""Find what a restoration would destroy although no snapshot holds it, before it begins.

There are two kinds: an unrecorded file where a file or directory has to be created, and a file that
was changed after its snapshot was taken.
"""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress

from siding.ground.git.paths import NOTHING, join, parents
from siding.ground.git.roots import WorktreeRoot
from siding.record.files.displaced import blob_at
from siding.record.files.plan import Restoration

_SLACK_NS = 20_000_000  # a file's times come from a clock that ticks every 4 to 10 ms


def obstacles(
    root: WorktreeRoot, plan: Restoration, object_format: str, *, leaving: Collection[bytes] = ()
) -> list[bytes]:
    """Return the paths that are in the way of `plan` and that it does not delete.

    A file that already has the content to write is no obstacle. `leaving` are paths that will be
    moved away first, with everything below them.
    """
    gone = {change.path for change in plan.deletes}
    base, away = os.fsencode(root.path), set(leaving)
    kinds: dict[bytes, int | None] = {}
    found: set[bytes] = set()
    for change in plan.writes:
        path = change.path
        blocker = _first_file_above(base, path, kinds)
        if blocker is not None:
            if blocker not in gone:
                found.add(blocker)
            continue
        kind = _kind(base, path, kinds)
        if kind is not None and stat.S_ISDIR(kind):
            found.update(p for p in _files_below(base, path) if p not in gone)
        elif (
            kind is not None
            and change.old_mode == NOTHING
            and blob_at(join(base, path), object_format, change.new_mode) != change.new_sha
        ):
            found.add(path)
    return sorted(p for p in found if p not in away and not any(a in away for a in parents(p)))


def of_others(root: WorktreeRoot, plan: Restoration) -> list[bytes]:
    """Return the paths whose permissions `plan` changes and that belong to another user."""
    me = os.geteuid()
    if me == 0:
        return []
    found = []
    for change in plan.chmods:
        with suppress(OSError):  # gone, or below a directory that cannot be entered
            if os.lstat(join(os.fsencode(root.path), change.path)).st_uid != me:
                found.append(change.path)
    return found


def changed_since(
    root: WorktreeRoot, plan: Restoration, object_format: str, since_ns: int
) -> list[bytes]:
    """Return the paths of `plan` whose files no longer equal the old side.

    Reads only files that changed at or after `since_ns` (nanoseconds since 1970).
    """
    base = os.fsencode(root.path)
    found = []
    for change in (c for c in (*plan.writes, *plan.deletes) if c.old_mode != NOTHING):
        full = join(base, change.path)
        try:
            there = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            continue  # nothing to lose
        if stat.S_ISDIR(there.st_mode) or there.st_ctime_ns < since_ns - _SLACK_NS:
            continue
        if blob_at(full, object_format, change.old_mode) != change.old_sha:
            found.append(change.path)
    return found


def _first_file_above(base: bytes, path: bytes, kinds: dict[bytes, int | None]) -> bytes | None:
    """Return the topmost parent of a path that exists and is not a directory, None if none is."""
    for above in reversed(parents(path)):
        kind = _kind(base, above, kinds)
        if kind is None:
            return None
        if not stat.S_ISDIR(kind):
            return above
    return None


def _kind(base: bytes, path: bytes, kinds: dict[bytes, int | None]) -> int | None:
    """Return the type of what is at a path whose parents are known to be directories."""
    if path not in kinds:
        try:
            kinds[path] = os.lstat(join(base, path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            kinds[path] = None
    return kinds[path]


def _files_below(base: bytes, directory: bytes) -> Iterator[bytes]:
    for parent, directories, files in os.walk(join(base, directory)):
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]
        for name in [*files, *links]:
            yield os.path.relpath(os.path.join(parent, name), base)
