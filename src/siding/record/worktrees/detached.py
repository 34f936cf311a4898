"""Make a worktree that has no branch: for forks and views."""

from pathlib import Path

from siding.ground.files.durable import flush_dir, flush_file, flush_tree
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.ground.ids import Sha
from siding.record.worktrees.filling import Checkout, write_files


def register_detached(repository: Repository, path: Path, commit: Sha, *, like: Path) -> Path:
    """Let git make the directory and its record of a worktree, with no files yet.

    It is as sparse as the worktree whose git directory is `like`.
    Returns the worktree's git directory. The last part of `path` must be a name that no worktree
    of the repository has. The caller serialises calls for one repository.
    """
    repository.git.run(
        Place(git_dir=like, common_dir=repository.paths.common_dir),
        ["worktree", "add", "-q", "--no-checkout", "--detach", "--", str(path), commit],
        doing="making a worktree for a fork",
    )
    git_dir = repository.paths.common_dir / "worktrees" / path.name
    if not (git_dir / "HEAD").is_file():
        raise GitError(f"git made no worktree at {str(path)!r}")
    return git_dir


def fill_detached(
    repository: Repository, path: Path, git_dir: Path, *, user: UserSettings, workers: int
) -> None:
    """Write the files of the commit, as the user's git would; make the record durable."""
    write_files(Checkout(repository, path, git_dir, None, user, workers), "HEAD")
    flush_tree(git_dir)
    flush_dir(git_dir.parent)
    flush_file(path / ".git")
    flush_dir(path)
    flush_dir(path.parent)
