"""A little room that is kept for the acts that make room.

Freeing a closed task, and closing one, must write before they may delete: an archive, an intent.
On a full disk they could not. So the home keeps a few files that hold nothing: these acts give
them up first, and put them back when there is room again.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.app.place.project import Project
from siding.git.snapshots.store import remove_tree

_FILES, _FILE_BYTES = 16, 128 << 10  # names are used up as well as bytes
_PLENTY = 8  # times what is kept: with less free it is not put back


def keep_reserve(project: Project) -> None:
    """Put the reserve there if there is plenty of room; nothing depends on it."""
    place = _place(project)
    if (place / str(_FILES - 1)).exists() or not _is_free(project, _PLENTY):
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, exist_ok=True)
        for number in range(_FILES):
            # Not zeros: a file system that compresses would keep no room for them.
            (place / str(number)).write_bytes(project.app.random_bytes(_FILE_BYTES))


@contextmanager
def spending_reserve(project: Project) -> Iterator[None]:
    """Give the reserve up if there is little room, and put it back in the end."""
    if not _is_free(project, 1):
        with suppress(OSError):  # a read-only home says so where it matters
            remove_tree(_place(project))
    try:
        yield
    finally:
        keep_reserve(project)


def _place(project: Project) -> Path:
    return project.app.home.root / "reserve"


def _is_free(project: Project, times: int) -> bool:
    """Tell whether the home has this many times the room and the names that are kept."""
    try:
        there = os.statvfs(project.app.home.root)
    except OSError:
        return False
    names = not there.f_files or there.f_favail >= times * _FILES
    return names and there.f_bavail * there.f_frsize >= times * _FILES * _FILE_BYTES
