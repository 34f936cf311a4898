"""Write and remove small files below a directory in which an agent may write.

No link is followed: directories are opened one by one.
"""

import os
from contextlib import suppress

from siding.ground.files.durable import flush, write_all
from siding.ground.git.treewalk import OpenTree

TEMPORARY = "siding-small-file"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def put_small_file(tree: OpenTree, path: bytes, data: bytes, *, mtime_ns: int = 0) -> None:
    """Write a file durably, in the place of what is there; `mtime_ns` 0 is now."""
    above, name = os.path.split(path)
    directory = tree.make(above) if above else tree.open(b"")
    top = tree.open(b"")
    with suppress(FileNotFoundError):
        os.unlink(TEMPORARY, dir_fd=top)
    fd = os.open(TEMPORARY, _NEW, 0o644, dir_fd=top)
    try:
        write_all(fd, data)
        if mtime_ns:
            os.utime(fd, ns=(mtime_ns, mtime_ns))
        flush(fd)
    finally:
        os.close(fd)
    os.rename(TEMPORARY, name, src_dir_fd=top, dst_dir_fd=directory)
    flush(directory)


def remove_small_file(tree: OpenTree, path: bytes) -> None:
    """Remove a file, and the directories that are empty without it."""
    above, name = os.path.split(path)
    try:
        directory = tree.open(above)
    except (FileNotFoundError, NotADirectoryError):
        return
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
    flush(directory)
    while above and above != b"refs":
        tree.forget(above)
        parent, name = os.path.split(above)
        try:
            os.rmdir(name, dir_fd=tree.open(parent))
        except OSError:  # it has other files
            return
        above = parent
