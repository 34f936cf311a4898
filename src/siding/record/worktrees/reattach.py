"""Register a worktree with git again after its registration was pruned, without changing a file."""

import os
from collections.abc import Sequence
from pathlib import Path

from siding.ground.files.durable import make_dirs, replace_by_lock
from siding.ground.git.command import Place
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.record.worktrees.listing import admin_dir, git_dir_of
from siding.record.worktrees.moving import refuse_branch_in_use, repair_links


def is_attached(repository: Repository, path: Path, git_dir: Path) -> bool:
    """Tell whether a worktree and its git directory are there and point at each other."""
    if admin_dir(repository, path) != git_dir:
        return False
    return git_dir_of(path) == Path(os.path.realpath(git_dir))


def reattach(
    repository: Repository,
    path: Path,
    git_dir: Path,
    branch: str | None,
    base: Sha,
    *,
    left_out: Sequence[bytes] = (),
) -> str:
    """Mend the links between a worktree and its git directory, made anew if it is gone.

    A new one has the branch checked out (the base, if the branch is gone or None) and an index of
    that commit; every file stays, so what is uncommitted shows as such. The paths `left_out`, of a
    sparse checkout, do not count as deleted. Returns what was done.
    Raises BranchInUse if a new one is needed and the branch is checked out elsewhere meanwhile.
    """
    common = repository.paths.common_dir
    if (git_dir / "HEAD").is_file():
        repair_links(path, git_dir, common)
        return "mended the links between git and the workspace"
    tip = None if branch is None else repository.branch(branch)
    if tip is not None:
        refuse_branch_in_use(repository, branch)
    make_dirs(git_dir)
    head = f"ref: refs/heads/{branch}\n" if tip is not None else f"{base}\n"
    replace_by_lock(git_dir / "commondir", b"../..\n", mode=0o644)
    # HEAD comes last: without it nobody takes the directory for git's record of a worktree, so a
    # lock that is here is what was left of an earlier attempt.
    (git_dir / "index.lock").unlink(missing_ok=True)
    repository.git.run(
        Place(git_dir=common, index_file=git_dir / "index", locks=True),
        ["read-tree", tip or base],
        doing="making the index of the workspace again",
    )
    if left_out:
        # One that is not in the index any more fails; the others are marked.
        repository.git.attempt(
            Place(git_dir=common, work_tree=path, index_file=git_dir / "index", locks=True),
            ["update-index", "--skip-worktree", "-z", "--stdin"],
            stdin=b"".join(each + b"\0" for each in left_out),
        )
    replace_by_lock(git_dir / "HEAD", head.encode(), mode=0o644)
    repair_links(path, git_dir, common)
    return "made git's record of the workspace again"
