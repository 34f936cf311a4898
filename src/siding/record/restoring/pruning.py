"""Remove the directories that have become empty."""

import errno
import os
from collections.abc import Callable, Collection

from siding.ground.git.paths import parents
from siding.ground.git.treewalk import OpenTree

# The last three: a mount point, or in a directory that is another user's.
STAYS = (
    *(errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EEXIST),
    *(errno.EBUSY, errno.EACCES, errno.EPERM),
)


def _nothing(path: bytes, mode: int) -> None:
    del path, mode


def prune(
    tree: OpenTree,
    touched: set[bytes],
    keep: Collection[bytes],
    removed: Callable[[bytes, int], None] = _nothing,
) -> None:
    """Remove those of these directories, and of their parents, that are empty; update `touched`.

    `removed` is told each one with the mode that it had.
    """
    for directory in sorted(touched | {p for t in touched for p in parents(t)}, reverse=True):
        if not directory or directory in keep:
            continue
        above, name = os.path.split(directory)
        mode = tree.mode(directory)
        try:
            os.rmdir(name, dir_fd=tree.writable(above))
        except OSError as error:
            if error.errno not in STAYS:
                raise
            continue
        tree.forget(directory)
        removed(directory, mode or 0o700)
        touched.discard(directory)
        touched.add(above)
