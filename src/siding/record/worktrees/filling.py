"""Write the files of a commit into a worktree, with the user's filters and line endings."""

from collections.abc import Sequence
from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings, filter_environment, settings_in
from siding.ground.namedtuples import NamedTuple


class Checkout(NamedTuple):
    """Where the files of a commit are to be written, and how.

    ``git_dir`` is that of a worktree, whose sparse checkout counts. ``index_file`` is another index
    than the worktree's own, if it is not None.
    """

    repository: Repository
    path: Path
    git_dir: Path
    index_file: Path | None
    user: UserSettings
    workers: int = 2


def write_files(checkout: Checkout, *trees: str, keep_fds: Sequence[int] = ()) -> None:
    """Write the files of the last tree as the user's git would; raises CommandFailed.

    They are brought there from what the index holds, or from the tree before it if there are two.
    """
    repository, user = checkout.repository, checkout.user
    place = Place(
        git_dir=checkout.git_dir,
        common_dir=repository.paths.common_dir,
        work_tree=checkout.path,
        index_file=checkout.index_file,
        locks=True,
        settings=(
            *settings_in(repository.git, user, checkout.git_dir),
            f"checkout.workers={max(2, checkout.workers)}",
            "checkout.thresholdForParallelism=100",
            "index.version=2",
            "index.sparse=false",
            # What a checkout writes can be had again from the commit.
            "core.fsync=none",
            "core.fsyncObjectFiles=false",
        ),
    )
    env = filter_environment(repository.git, user)
    done = repository.git.attempt(
        place, ["read-tree", "-m", "-u", *trees], keep_fds=keep_fds, env=env
    )
    if done.returncode:
        hint = None
        if repository.is_partial():
            hint = "this is a partial clone: `git checkout` the base once, so that its files come"
        failed = CommandFailed("checking the files out", done.argv, done.returncode, done.stderr)
        failed.hint = hint
        raise failed
