"""Switch a worktree to a branch at the commit that it has checked out: no file changes."""

from pathlib import Path

from siding.ground.files.durable import flush_dir, flush_file
from siding.ground.git import refs
from siding.ground.git.command import Place
from siding.ground.git.errors import BranchExists, NoCommits
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha


def begin_branch(repository: Repository, git_dir: Path, branch: str, *, reason: str) -> Sha:
    """Make a branch at the worktree's HEAD and switch the worktree to it; return the commit.

    Raises BranchExists if there is one of that name, and NoCommits if HEAD has no commit. The
    caller has written down the name, so that `leave_branch` can take it back after a crash.
    """
    refs.check_ref_part(branch)
    head = repository.head(git_dir).sha
    if head is None:
        raise NoCommits("the workspace has no commit checked out")
    if repository.branch(branch) is not None:
        raise BranchExists(f"there is a branch {branch!r} already", hint="rename that one first")
    nothing = "0" * len(head)  # there must be no such branch yet
    repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["update-ref", "--create-reflog", "-m", reason, f"refs/heads/{branch}", head, nothing],
        doing=f"making branch {branch}",
    )
    _point(repository, git_dir, branch, reason)
    return head


def leave_branch(
    repository: Repository, git_dir: Path, branch: str, before: str, *, reason: str
) -> None:
    """Take `begin_branch` back: switch to the branch of before, and delete the new one.

    Safe to repeat. A branch that somebody has committed to meanwhile is left as it is.
    """
    made, old = repository.branch(branch), repository.branch(before)
    if made is None:
        return
    if repository.head(git_dir).branch == branch:
        if old != made:
            return
        _point(repository, git_dir, before, reason)
    if old == made:
        repository.delete_branch(branch, made)


def _point(repository: Repository, git_dir: Path, branch: str, reason: str) -> None:
    repository.git.run(
        Place(git_dir=git_dir, common_dir=repository.paths.common_dir),
        ["symbolic-ref", "-m", reason, "HEAD", f"refs/heads/{branch}"],
        doing=f"switching the workspace to {branch}",
    )
    if (git_dir / "HEAD").is_file():  # `git symbolic-ref` does not flush it
        flush_file(git_dir / "HEAD")
        flush_dir(git_dir)
