"""Check that a worktree's root is a directory, no symlink, and the same one that was recorded."""

import os
from pathlib import Path

from siding.git.errors import WorkspaceMissing, WorkspaceReplaced
from siding.namedtuples import NamedTuple


class WorktreeRoot(NamedTuple):
    """A directory with its device and inode numbers, which tell it from any other one."""

    path: Path
    device: int
    inode: int


def recorded_root(path: Path) -> WorktreeRoot:
    """Return the root as it is now, to be recorded. Raises the errors of `check_root`."""
    found = _look(path)
    return WorktreeRoot(path=path, device=found.st_dev, inode=found.st_ino)


def check_root(root: WorktreeRoot) -> None:
    """Raise WorkspaceReplaced when the path no longer leads to the recorded directory."""
    found = _look(root.path)
    if (found.st_dev, found.st_ino) != (root.device, root.inode):
        raise WorkspaceReplaced(
            f"{str(root.path)!r} is not the directory that was made for this task",
            hint="somebody put another directory in its place; move it back before going on",
        )


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
