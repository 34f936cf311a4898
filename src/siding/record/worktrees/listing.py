"""List the worktrees of a repository, and find out which of them a directory is."""

import os
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.discovery import read_git_file
from siding.ground.git.refs import Head
from siding.ground.git.repository import Repository
from siding.ground.namedtuples import NamedTuple


class WorktreeInfo(NamedTuple):
    """A worktree as the repository knows it. ``git_dir`` is the common one for the main worktree;
    ``path`` is None when the repository does not say where it is (half-made)."""

    path: Path | None
    git_dir: Path
    main: bool
    head: Head | None
    locked: str | None


def worktrees(repository: Repository) -> list[WorktreeInfo]:
    """Return all worktrees the repository knows of, the main one first. Starts no process."""
    paths = repository.paths
    found = [
        WorktreeInfo(
            path=paths.main_worktree,
            git_dir=paths.common_dir,
            main=True,
            head=refs.read_head(paths.common_dir, paths.common_dir),
            locked=None,
        )
    ]
    linked = paths.common_dir / "worktrees"
    names = sorted(os.listdir(linked)) if linked.is_dir() else []
    for name in names:
        git_dir = linked / name
        pointer = read_small(git_dir / "gitdir", 8192)
        locked = read_small(git_dir / "locked", 8192)
        if pointer and b"\0" in pointer:  # a power cut kept its size and lost its bytes
            pointer = None
        place = os.fsdecode(pointer.strip(b"\r\n")) if pointer else ""
        if place:  # relative to the git directory with `worktree.useRelativePaths` of git 2.48
            place = os.path.normpath(git_dir / place)
        found.append(
            WorktreeInfo(
                path=Path(place).parent if place else None,
                git_dir=git_dir,
                main=False,
                head=refs.read_head(git_dir, paths.common_dir),
                locked=None if locked is None else locked.decode("utf-8", "replace").strip(),
            )
        )
    return found


def registrations(repository: Repository, path: Path) -> list[Path]:
    """Return the git directories in the repository that were made for a worktree at `path`."""
    return [
        info.git_dir
        for info in worktrees(repository)[1:]
        if (info.path and same_place(info.path, path))
        or (info.path is None and made_for(info.git_dir.name, path.name))
    ]


def admin_dir(repository: Repository, path: Path) -> Path | None:
    """Return the git directory of the worktree at `path`, as the repository has it.

    The worktree's own `.git` file is not asked: it lies where the agent writes.
    """
    return next(
        (i.git_dir for i in worktrees(repository)[1:] if i.path and same_place(i.path, path)), None
    )


def git_dir_of(path: Path) -> Path | None:
    """Return the git directory that a worktree's `.git` file names; None when there is none.

    The file lies where the agent writes: compare with what was recorded before trusting it.
    """
    target = read_git_file(path / ".git")
    return None if target is None else Path(os.path.realpath(target))


def same_place(one: Path, other: Path) -> bool:
    """Tell whether two names lead to one place: git writes down a path with its links resolved."""
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def made_for(name: str, wanted: str) -> bool:
    """Tell whether git may have given a worktree's registration this name: the worktree's own, or
    that with a number if it was taken."""
    return name == wanted or (name.startswith(wanted) and name[len(wanted) :].isdigit())
