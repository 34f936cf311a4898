"""Move what no snapshot holds out of a worktree, into a directory beside it, and back."""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.files.exchange import Entry, rename_new
from siding.ground.git.paths import parents
from siding.ground.git.roots import WorktreeRoot, check_root
from siding.ground.git.treewalk import OpenTree
from siding.record.files.restore import prune


def move_out(root: WorktreeRoot, paths: Sequence[bytes], aside: Path) -> list[bytes]:
    """Rename what is at `paths` into the directory `aside`, under the same names; durable.

    Returns the paths that were there. Directories that this empties are taken away. `aside` is on
    the worktree's file system.
    """
    check_root(root)
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    with OpenTree(root.path) as tree, OpenTree(aside, private=True) as target:
        moved = [path for path in paths if _move(tree, target, path)]
        target.lock_again()
        target.flush({above for path in moved for above in (*parents(path), b"")})
        touched = {os.path.dirname(path) for path in moved}
        prune(tree, touched, keep=())
        tree.lock_again()
        tree.flush(touched)
    return moved


def listed(directory: Path) -> list[bytes]:
    """Return every file and link below a directory; none when it is not there."""
    found: list[bytes] = []
    if directory.is_dir():
        with OpenTree(directory) as tree:
            waiting = [b""]
            while waiting:
                for path, is_directory in tree.listing(waiting.pop()):
                    (waiting if is_directory else found).append(path)
    return found


def move_in(root: WorktreeRoot, aside: Path) -> tuple[list[bytes], list[bytes]]:
    """Reverse `move_out`: return what came back, and what stays because its place is taken."""
    check_root(root)
    if not aside.is_dir():
        return [], []
    moved: list[bytes] = []
    stays: list[bytes] = []
    with OpenTree(aside) as source, OpenTree(root.path, private=True) as tree:
        waiting = [b""]
        while waiting:
            directory = waiting.pop()
            for path, is_directory in source.listing(directory):
                if is_directory and tree.is_directory(path):
                    waiting.append(path)
                elif not _move(source, tree, path):
                    stays.append(path)
                else:
                    moved.append(path)
        tree.lock_again()
        tree.flush({os.path.dirname(path) for path in moved})
        source.flush({os.path.dirname(path) for path in moved})
    for parent, _directories, _files in os.walk(aside, topdown=False):
        with suppress(OSError):  # what stays there keeps its directory
            os.rmdir(parent)
    return sorted(moved), sorted(stays)


def _copy_modes(source: OpenTree, target: OpenTree) -> None:
    """Give the directories that were made on the way the modes they have in the source."""
    for made in target.made:
        if mode := source.unlocked.get(made, source.mode(made)):
            target.set_mode(made, stat.S_IMODE(mode) | 0o700)
            target.unlocked.setdefault(made, stat.S_IMODE(mode))
    target.made.clear()


def _move(source: OpenTree, target: OpenTree, path: bytes) -> bool:
    above, name = os.path.split(path)
    try:
        from_fd = source.writable(above)
        os.stat(name, dir_fd=from_fd, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if target.exists(path):
        return False
    try:
        to_fd = target.make(above)
    except (FileExistsError, NotADirectoryError):
        return False
    _copy_modes(source, target)
    present = source.mode(path) or 0
    is_locked = stat.S_ISDIR(present) and not present & stat.S_IWUSR
    if is_locked:  # a directory has to be writable to get another parent
        source.set_mode(path, stat.S_IMODE(present) | 0o700)
    try:
        rename_new(Entry(from_fd, name), Entry(to_fd, name))
    except FileExistsError:
        if is_locked:
            source.set_mode(path, stat.S_IMODE(present))
        return False
    if is_locked:
        target.set_mode(path, stat.S_IMODE(present))
    source.forget(path)
    return True
