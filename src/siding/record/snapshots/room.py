"""Choose a directory for temporary files: beside the snapshots, or elsewhere if there is no room.

A look at a workspace and a preview need to write objects. They must also work if Siding's home is
full or read-only: then the directory is in a temporary directory of the system.
"""

import errno
import os
import time
from pathlib import Path

from siding.ground.git.errors import GitError
from siding.record.snapshots.scratch import abandoned, sweep
from siding.record.snapshots.store import SnapshotStore

_BYTES = 16 << 20  # with less than this a look begins elsewhere
_NAMES = 200
_YOUNG_S = 60  # its owner may not have taken its lock yet
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


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
