"""Move a linked worktree to another place and bring it back; no file of it is ever deleted."""

import os
from pathlib import Path

from siding.ground.files.durable import replace_by_lock
from siding.ground.git import refs
from siding.ground.git.errors import BranchInUse, GitError
from siding.ground.git.repository import Repository
from siding.record.worktrees.carrying import (
    came_back,
    carry_back,
    carry_out,
    end_carrying_back,
    free_name,
    is_going,
)
from siding.record.worktrees.listing import same_place, worktrees


def detach_worktree(repository: Repository, path: Path, git_dir: Path, aside: Path) -> Path:
    """Take a worktree's registration (index, HEAD, logs, submodules' stores) out of the
    repository, to `aside`/git-dir, which is returned. The branch is free afterwards.

    The caller moves the worktree itself. Nothing is deleted or pruned; `attach_worktree` is the
    reverse. Safe to repeat after a crash at any point.
    """
    if git_dir.parent != repository.paths.common_dir / "worktrees":
        raise GitError(f"{str(git_dir)!r} is not the git directory of a linked worktree")
    named = next((i.path for i in worktrees(repository)[1:] if i.git_dir == git_dir), None)
    if named is not None and not same_place(named, path):
        raise GitError(
            f"{str(git_dir)!r} belongs to {str(named)!r}, not to {str(path)!r}",
            hint="run `siding doctor`",
        )
    target = aside / "git-dir"
    carry_out(repository, git_dir, target)
    return target


def is_registered(repository: Repository, git_dir: Path) -> bool:
    """Tell whether the repository has this record of a worktree, be it half-way out of it."""
    return os.path.lexists(git_dir) or is_going(repository, git_dir)


def attach_worktree(repository: Repository, path: Path, stored: Path) -> Path:
    """Put a registration back for the worktree that is at `path` again; returns its new place.

    Safe to repeat after a crash at any point. Raises BranchInUse when its branch has been checked
    out elsewhere meanwhile.
    """
    if (came := came_back(repository, path, stored)) is not None:
        repair_links(path, came, repository.paths.common_dir)
        end_carrying_back(came, stored)
        return came
    head = refs.read_head(stored, repository.paths.common_dir)
    refuse_branch_in_use(repository, head.branch if head else None)
    target = _place_for_registration(repository, path)
    carry_back(repository, stored, target)
    repair_links(path, target, repository.paths.common_dir)
    end_carrying_back(target, stored)
    return target


def refuse_branch_in_use(repository: Repository, branch: str | None) -> None:
    """Raise BranchInUse if a worktree of the repository has the branch checked out."""
    for other in worktrees(repository):
        if branch and other.head and other.head.branch == branch and other.path:
            raise BranchInUse(
                f"branch {branch!r} is checked out at {str(other.path)!r}",
                hint="switch that checkout to another branch first",
            )


def repair_links(path: Path, git_dir: Path, common_dir: Path) -> None:
    """Make a worktree and its git directory point at each other where they are now, after the
    repository, the home or the worktree was moved."""
    pointer = path / ".git"
    if pointer.is_dir() and not pointer.is_symlink():
        raise GitError(
            f"{str(pointer)!r} is a directory: somebody made a repository of the workspace",
            hint="move it away, then run `siding doctor` again",
        )
    common = os.path.relpath(common_dir, git_dir)
    replace_by_lock(git_dir / "commondir", os.fsencode(common) + b"\n", mode=0o644)
    replace_by_lock(git_dir / "gitdir", os.fsencode(pointer) + b"\n", mode=0o644)
    replace_by_lock(pointer, b"gitdir: " + os.fsencode(git_dir) + b"\n", mode=0o644)


def _place_for_registration(repository: Repository, path: Path) -> Path:
    """Return a free git directory for a worktree, named after it as git does."""
    linked = repository.paths.common_dir / "worktrees"
    linked.mkdir(exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in path.name)
    return free_name(linked / (name.strip(".") or "worktree"))
