"""Temporary directories of processes that hold no task's lock; swept when their owner is dead.

A look at a workspace and a preview of an apply write their objects into a directory of their own.
The process holds that directory's lock (flock), which the kernel releases when the process dies.
Nothing in such a directory is needed by anyone else.

It is beside the snapshots. A look and a preview must also work if Siding's home is full or
read-only: then the directory is in a temporary directory of the system.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.ground.git.errors import GitError
from siding.record.snapshots.store import SnapshotStore, remove_tree

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BYTES = 16 << 20  # with less than this a look begins elsewhere
_NAMES = 200
_YOUNG_S = 60  # its owner may not have taken its lock yet
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


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


class NoRoom(GitError):
    """There is nowhere to write what a look needs."""

    code = "no_room"


def has_room(directory: Path) -> bool:
    """Tell whether something can be written in a directory that is there."""
    if not os.access(directory, os.W_OK | os.X_OK):
        return False
    try:
        there = os.statvfs(directory)
    except OSError:
        return False
    if there.f_bavail * there.f_frsize < _BYTES:
        return False
    return not there.f_files or there.f_favail >= _NAMES  # 0: it has no fixed number of names


def place_for(store: SnapshotStore, kind: str, unique: str) -> Path:
    """Return a directory to make for a look (`PEEKS`) or a preview (`APPLIES`)."""
    parent = store.root / kind
    if has_room(parent if parent.is_dir() else store.root):
        return parent / unique
    return elsewhere(store, unique) or parent / unique


def elsewhere(store: SnapshotStore, unique: str) -> Path | None:
    """Return a directory to make outside the home; None when there is no room anywhere.

    What killed looks have left there is swept.
    """
    prefix = f"siding-{os.geteuid()}-"
    named = store.git.environ.get("TMPDIR", "")
    for parent in (named, "/tmp", "/var/tmp", "/dev/shm"):
        if not os.path.isabs(parent) or not has_room(Path(parent)):
            continue
        for path in abandoned(Path(parent), before=time.time() - _YOUNG_S, prefix=prefix):
            if path.stat(follow_symlinks=False).st_uid == os.geteuid():
                sweep(path)
        return Path(parent, prefix + unique)
    return None


def nowhere(error: OSError) -> NoRoom:
    """Return what to tell when neither the home nor a temporary directory could be written."""
    return NoRoom(
        f"there is no room for a look at the workspace: {error.strerror or error}",
        hint="name a directory with room in TMPDIR; `siding log`, `show` and `diff --step N` "
        "need none",
    )
