"""Remove the directories that have become empty."""

import errno
import os
from collections.abc import Collection

from siding.git.paths import parents
from siding.git.treewalk import OpenTree

STILL_IN_USE = (errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EEXIST)


def prune(tree: OpenTree, touched: set[bytes], keep: Collection[bytes]) -> None:
    """Remove those of these directories, and of their parents, that are empty; update `touched`."""
    for directory in sorted(touched | {p for t in touched for p in parents(t)}, reverse=True):
        if not directory or directory in keep:
            continue
        above, name = os.path.split(directory)
        try:
            os.rmdir(name, dir_fd=tree.writable(above))
        except OSError as error:
            if error.errno not in STILL_IN_USE:
                raise
            continue
        tree.forget(directory)
        touched.discard(directory)
        touched.add(above)
