"""Look at what a repository's history hangs on: packs, directories of objects, reflogs.

`git gc` and `git repack` write all of it anew, so a change alone says nothing. Damage is a pack
without its index, and an object of a branch that is gone; a loss is an entry of a reflog that git
would have kept.
"""

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from siding.ground.namedtuples import NamedTuple

KEPT_S = 30 * 24 * 3600  # git drops no entry that is younger, unless it is told to
LARGEST_REFLOG = 16 << 20  # bytes; of a larger one only the size is compared
_STAMP = re.compile(rb"> (\d+) [+-]\d{4}\t")


class ObjectsMark(NamedTuple):
    """The names of packs and of their indexes, and the directories of loose objects."""

    packs: frozenset[str]
    indexes: frozenset[str]
    directories: frozenset[str]

    @property
    def lone(self) -> frozenset[str]:
        """Packs without an index: git reads nothing in them."""
        return self.packs - self.indexes

    def both(self, later: "ObjectsMark") -> "ObjectsMark":
        """Return the mark in which a pack is alone only if it is in both: git removes an index
        before its pack, and a fetch writes it behind it."""
        return later._replace(indexes=later.indexes | (later.packs - self.lone))


def take_objects(objects: Path) -> ObjectsMark:
    """Return the mark of an object directory."""
    packs = _names(objects / "pack")
    return ObjectsMark(
        packs=_stems(packs, ".pack"),
        indexes=_stems(packs, ".idx"),
        directories=frozenset(name for name in _names(objects) if len(name) == 2),
    )


def damage(
    before: ObjectsMark, after: ObjectsMark, missing: Callable[[], bool]
) -> list[tuple[str, str]]:
    """Return (name, how) of what is damaged.

    `missing` tells whether objects that branches need are gone.
    """
    lone = after.lone - before.lone
    found = [(f"the index of {name}", "is gone") for name in sorted(lone)]
    were_lost = before.packs - after.packs or before.directories - after.directories
    if not found and were_lost and missing():
        found.append(("objects of branches", "are gone"))
    return found


class ReflogMark(NamedTuple):
    """A reflog and its size. The descriptor still leads to it when git has written a new one."""

    path: Path
    descriptor: int | None
    inode: int
    size: int

    def close(self) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)


def take_reflogs(git_dir: Path, names: Sequence[str]) -> list[ReflogMark]:
    """Return the marks of reflogs, such as ``HEAD``; close each of them in the end."""
    return [_reflog(git_dir / "logs" / name) for name in names]


def lost_entries(mark: ReflogMark, *, now: float) -> int:
    """Return how many entries a reflog has lost that git would have kept; -1 if it is gone."""
    if mark.descriptor is None:
        return 0
    try:
        status = os.stat(mark.path, follow_symlinks=False)
    except OSError:
        return -1 if _young(_read(mark.descriptor, mark.size), now) else 0
    if status.st_ino == mark.inode:
        return 0 if status.st_size >= mark.size else 1
    if max(status.st_size, mark.size) > LARGEST_REFLOG:
        return 0
    left = set(_lines_at(mark.path))
    gone = [line for line in _read(mark.descriptor, mark.size) if line not in left]
    return len(_young(gone, now))


def _reflog(path: Path) -> ReflogMark:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return ReflogMark(path, None, 0, 0)
    status = os.fstat(descriptor)
    return ReflogMark(path, descriptor, status.st_ino, status.st_size)


def _read(descriptor: int, size: int) -> list[bytes]:
    try:
        return os.pread(descriptor, min(size, LARGEST_REFLOG), 0).splitlines()
    except OSError:
        return []


def _lines_at(path: Path) -> list[bytes]:
    mark = _reflog(path)
    try:
        return [] if mark.descriptor is None else _read(mark.descriptor, mark.size)
    finally:
        mark.close()


def _young(lines: Sequence[bytes], now: float) -> list[bytes]:
    """Return the entries that are younger than what git drops by itself."""
    found = []
    for line in lines:
        stamp = _STAMP.search(line)
        if stamp is not None and now - int(stamp[1]) < KEPT_S:
            found.append(line)
    return found


def _names(directory: Path) -> frozenset[str]:
    try:
        return frozenset(os.listdir(directory))
    except OSError:
        return frozenset()


def _stems(names: frozenset[str], ending: str) -> frozenset[str]:
    return frozenset(name.removesuffix(ending) for name in names if name.endswith(ending))
