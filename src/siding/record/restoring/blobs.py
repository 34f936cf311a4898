"""The blob id that git would give to a file, without git and its filters."""

import os
import stat

from siding.ground.git.tree_modes import SYMLINK
from siding.ground.hashing import new_digest


def blob_at(full: bytes, object_format: str, mode: str) -> str | None:
    """Return the blob id of a file's or symlink's content; None if it is not of the kind `mode`."""
    found = os.lstat(full)
    if stat.S_ISLNK(found.st_mode):
        if mode != SYMLINK:
            return None
        data = os.readlink(full)
        digest = new_digest(object_format, len(data))
        digest.update(b"blob %d\0" % len(data))
        digest.update(data)
        return digest.hexdigest()
    if not stat.S_ISREG(found.st_mode) or mode == SYMLINK:
        return None
    fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        size = os.fstat(fd).st_size
        digest = new_digest(object_format, size)
        digest.update(b"blob %d\0" % size)
        while block := os.read(fd, 1 << 20):
            digest.update(block)
    finally:
        os.close(fd)
    return digest.hexdigest()
