"""Temporary directories of processes that hold no task's lock; swept when their owner is dead.

A look at a workspace and a preview of an apply write their objects into a directory of their own.
The process holds that directory's lock (flock), which the kernel releases when the process dies.
Nothing in such a directory is needed by anyone else.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.record.snapshots.store import remove_tree

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def scratch(path: Path) -> Iterator[Path]:
    """Make a new directory, hold it, and remove it with all in it."""
    path.mkdir(parents=True, mode=0o700)
    fd = hold(path)
    try:
        yield path
    finally:
        remove_tree(path)
        os.close(fd)


def hold(path: Path) -> int:
    """Take the lock of a directory of our own; closing what is returned lets go of it."""
    fd = os.open(path, _DIRECTORY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def abandoned(parent: Path, *, before: float, prefix: str = "") -> list[Path]:
    """Return the directories, with names that begin with `prefix`, whose owner is dead.

    `before` is in seconds since 1970: a younger one may not be locked yet.
    """
    try:
        found = sorted(path for path in parent.iterdir() if path.name.startswith(prefix))
    except FileNotFoundError:
        return []
    return [path for path in found if _is_abandoned(path, before)]


def sweep(path: Path) -> bool:
    """Remove a directory if its owner is (still) dead; return whether it is gone."""
    try:
        fd = os.open(path, _DIRECTORY)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove_tree(path)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def _is_abandoned(path: Path, before: float) -> bool:
    try:
        fd = os.open(path, _DIRECTORY)
    except OSError:  # gone meanwhile, or nothing of ours
        return False
    try:
        there = os.fstat(fd)
        if there.st_mtime >= before:
            return False
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True
