"""What git does not show of a directory: empty directories, special files, nested repositories.

Runs in this process while git looks for changes, and is done before git is: 9 ms for 20,000
files, against 24 ms of `git status` (`find` needs twice as long, and a process).
"""

import os
import stat
from typing import NamedTuple

from siding.git.coverage import Reason
from siding.git.paths import join, parents


class Scan(NamedTuple):
    """Names relative to the root. ``nested`` are directories with a `.git` of their own."""

    special: list[bytes]
    empty: list[bytes]
    nested: list[bytes]
    unreadable: list[bytes]

    def outside(self, directories: list[bytes]) -> "Scan":
        """Return the scan without what lies in one of the directories."""
        known = set(directories)
        if not known:
            return self
        return Scan(*([p for p in found if not _within(p, known)] for found in self))


def scan_tree(root: bytes) -> Scan:
    """Look at every directory under `root`, following no link."""
    scan = Scan(special=[], empty=[], nested=[], unreadable=[])
    waiting = [b""]
    while waiting:
        directory = waiting.pop()
        try:
            entries = os.scandir(join(root, directory))
        except OSError:
            scan.unreadable.append(directory)
            continue
        with entries:
            _look_at(directory, entries, scan, waiting)
    for found in scan:
        found.sort()
    return scan


def identity(path: str | bytes) -> tuple[int, int, int, int] | None:
    """Return what tells one state of a file from another; None when nothing is there."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, stat.S_IFMT(found.st_mode)


def unreadable(path: bytes) -> Reason | None:
    """Return why a file's bytes cannot be had, after reading all of them; None if they can."""
    before = identity(path)
    try:
        if before is not None and stat.S_ISREG(before[3]):
            with open(path, "rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass
        elif before is None or not stat.S_ISLNK(before[3]):
            return Reason.CHANGING
    except OSError:
        return Reason.UNREADABLE
    return None if identity(path) == before else Reason.CHANGING


def _look_at(
    directory: bytes, entries: "os._ScandirIterator[bytes]", scan: Scan, waiting: list[bytes]
) -> None:
    prefix = directory + b"/" if directory else b""
    empty = True
    for entry in entries:
        empty = False
        if entry.name == b".git":
            if directory:
                scan.nested.append(directory)
        elif entry.is_dir(follow_symlinks=False):
            waiting.append(prefix + entry.name)
        elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
            scan.special.append(prefix + entry.name)
    if empty and directory:
        scan.empty.append(directory)


def _within(path: bytes, directories: set[bytes]) -> bool:
    return path in directories or any(above in directories for above in parents(path))
