"""Replace the small files that unfinished git commands leave in a workspace's git directory.

An agent may write there, so no link is followed: directories are opened one by one.
"""

import os
from contextlib import suppress
from pathlib import Path

from siding.files.durable import flush, write_all
from siding.git.errors import SnapshotDamaged
from siding.git.snapshots.git_state import GitDetails
from siding.git.snapshots.store import SnapshotStore
from siding.git.treewalk import OpenTree

LARGEST_FILE = 1 << 20
TEMPORARY = "siding-small-file"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def replace_small_files(
    store: SnapshotStore, git_dir: Path, present: GitDetails, wanted: GitDetails
) -> None:
    """Remove the small files of `present` and write those of `wanted`, durably."""
    if present.files == wanted.files:
        return
    contents: dict[str, bytes] = {}
    for name, sha in wanted.files.items():
        data = store.read_blob(sha, LARGEST_FILE)
        if data is None:
            raise SnapshotDamaged(f"{name} of that state is lost")
        contents[name] = data
    with OpenTree(git_dir) as tree:
        for name in sorted(present.files.keys() - wanted.files.keys(), reverse=True):
            _remove(tree, os.fsencode(name))
        for name, data in sorted(contents.items()):
            if present.files.get(name) != wanted.files[name]:
                _write(tree, os.fsencode(name), data)


def _write(tree: OpenTree, path: bytes, data: bytes) -> None:
    above, name = os.path.split(path)
    directory = tree.make(above) if above else tree.open(b"")
    top = tree.open(b"")
    with suppress(FileNotFoundError):
        os.unlink(TEMPORARY, dir_fd=top)
    fd = os.open(TEMPORARY, _NEW, 0o644, dir_fd=top)
    try:
        write_all(fd, data)
        flush(fd)
    finally:
        os.close(fd)
    os.rename(TEMPORARY, name, src_dir_fd=top, dst_dir_fd=directory)
    flush(directory)


def _remove(tree: OpenTree, path: bytes) -> None:
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
