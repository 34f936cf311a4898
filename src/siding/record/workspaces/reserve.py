"""Disk space that is kept in reserve for the acts that free disk space.

Closing a task, and freeing a closed one, must write an intent or an archive before they can delete
anything. On a full disk this would fail. So the home contains a few useless files: these acts
delete them first, and write them again when there is room.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree

_FILES, _FILE_BYTES = 16, 128 << 10  # several files, because a disk can also run out of inodes
_PLENTY = 8  # the reserve is only written if 8 times as much is free


def keep_reserve(project: Project) -> None:
    """Write the reserve if it is missing and there is plenty of room; failures are ignored."""
    place = _place(project)
    if (place / str(_FILES - 1)).exists() or not _is_free(project, _PLENTY):
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, exist_ok=True)
        for number in range(_FILES):
            # Random bytes, because zeros would take no room on a file system that compresses.
            (place / str(number)).write_bytes(project.app.random_bytes(_FILE_BYTES))


@contextmanager
def spending_reserve(project: Project) -> Iterator[None]:
    """Delete the reserve if there is little room, and write it again at the end of the block."""
    if not _is_free(project, 1):
        with suppress(OSError):  # in a read-only home, the act itself will report the error
            remove_tree(_place(project))
    try:
        yield
    finally:
        keep_reserve(project)


def _place(project: Project) -> Path:
    return project.app.home.root / "reserve"


def _is_free(project: Project, times: int) -> bool:
    """Tell whether the disk has this many times the bytes and inodes of the reserve."""
    try:
        there = os.statvfs(project.app.home.root)
    except OSError:
        return False
    names = not there.f_files or there.f_favail >= times * _FILES
    return names and there.f_bavail * there.f_frsize >= times * _FILES * _FILE_BYTES
