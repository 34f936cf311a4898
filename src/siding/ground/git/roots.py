"""Check that a worktree's root is a directory, no symlink, and the one that was recorded.

A worktree is known by its link: its `.git` file names git's record of it, and that record names the
worktree. The device and inode numbers only save reading both. They change without anybody having
put another directory there: when a backup is restored, when a disk gets another device number.
"""

import os
from pathlib import Path

from siding.ground.git.discovery import is_linked
from siding.ground.git.errors import WorkspaceMissing, WorkspaceReplaced
from siding.ground.namedtuples import NamedTuple


class WorktreeRoot(NamedTuple):
    """A directory with its numbers when it was recorded, and git's record of it.

    Without a `git_dir` the numbers alone tell it from any other one.
    """

    path: Path
    device: int
    inode: int
    git_dir: Path | None = None

    def has_numbers_of(self, found: os.stat_result) -> bool:
        """Tell whether a directory has the recorded numbers."""
        return (found.st_dev, found.st_ino) == (self.device, self.inode)


def recorded_root(path: Path) -> WorktreeRoot:
    """Return the root as it is now, to be recorded. Raises the errors of `check_root`."""
    found = _look(path)
    return WorktreeRoot(path=path, device=found.st_dev, inode=found.st_ino)


def check_root(root: WorktreeRoot) -> None:
    """Raise WorkspaceReplaced when the path no longer leads to the recorded directory."""
    current_root(root)


def current_root(root: WorktreeRoot) -> WorktreeRoot:
    """Return the root with the numbers that it has now.

    Raises WorkspaceReplaced if the path no longer leads to the recorded directory.
    """
    found = _look(root.path)
    if root.has_numbers_of(found):
        return root
    if root.git_dir is None or not is_linked(root.path, root.git_dir):
        raise WorkspaceReplaced(
            f"{str(root.path)!r} is not the directory that was made for this task",
            hint="somebody put another directory in its place, or its `.git` file is gone; move "
            "it away and the right one back, or `siding task reopen` makes it from its last state",
        )
    return root._replace(device=found.st_dev, inode=found.st_ino)


def _look(path: Path) -> os.stat_result:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise WorkspaceMissing(f"{str(path)!r} is not there") from error
    except (NotADirectoryError, OSError) as error:
        raise WorkspaceReplaced(
            f"{str(path)!r} is not a directory of its own: {error.strerror}",
            hint="a link or a file stands where the workspace was",
        ) from error
    try:
        return os.fstat(fd)
    finally:
        os.close(fd)
