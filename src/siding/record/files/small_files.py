"""Write and remove small files below a directory in which an agent may write.

No link is followed: directories are opened one by one.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush, write_all
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.treewalk import OpenTree
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.git_look import LARGEST_FILE
from siding.record.snapshots.store import SnapshotStore

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


class SmallFiles(NamedTuple):
    """What to do with them: the contents to write, and the names to remove."""

    written: Mapping[str, bytes]
    removed: tuple[str, ...]


def plan_small_files(
    store: SnapshotStore, present: Mapping[str, Sha], wanted: Mapping[str, Sha]
) -> SmallFiles:
    """Return how the small files `present` become the `wanted` ones.

    The contents are read now, before anything is changed. Raises SnapshotDamaged if one is lost.
    """
    written: dict[str, bytes] = {}
    for name, sha in wanted.items():
        if present.get(name) == sha:
            continue
        data = store.read_blob(sha, LARGEST_FILE)
        if data is None:
            raise SnapshotDamaged(f"{name} of that state is lost")
        written[name] = data
    return SmallFiles(written, tuple(sorted(present.keys() - wanted.keys())))


def replace_small_files(git_dir: Path, plan: SmallFiles) -> None:
    """Remove and write the small files, durably."""
    if not (plan.written or plan.removed):
        return
    with OpenTree(git_dir) as tree:
        for name in reversed(plan.removed):
            remove_small_file(tree, os.fsencode(name))
        for name, data in sorted(plan.written.items()):
            put_small_file(tree, os.fsencode(name), data)
