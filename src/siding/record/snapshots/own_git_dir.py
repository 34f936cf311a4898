"""Read the parts of a workspace's git directory that decide what git does there next.

Without a sandbox a run can write anything there. Most of it is git's ordinary work. These parts
could make a later git command move another branch or run a program.
"""

from collections.abc import Mapping
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.fingerprint import Mark, mark_of

# Of this worktree alone: its settings, which repository it belongs to, what it leaves out.
_STEERING = ("config.worktree", "commondir", "gitdir", "info/sparse-checkout")
_TODO = "rebase-merge/git-rebase-todo"
_BRANCH = b"ref: refs/heads/"
_COMMANDS = (b"exec ", b"x ")


class OwnGitDir(NamedTuple):
    """``head`` is what HEAD holds, None when it cannot be read. ``todo`` are the lines that an
    unfinished rebase still has to do, None when there is none."""

    head: bytes | None
    steering: Mapping[str, Mark | None]
    todo: tuple[bytes, ...] | None

    @property
    def branch(self) -> str | None:
        """Return the branch that HEAD names, None for a commit."""
        head = (self.head or b"").strip()
        if not head.startswith(_BRANCH):
            return None
        return head.removeprefix(_BRANCH).decode("utf-8", "surrogateescape")

    @property
    def commands(self) -> tuple[bytes, ...]:
        """Return the commands that the rebase will run."""
        return tuple(line for line in self.todo or () if line.startswith(_COMMANDS))


def take_own(git_dir: Path) -> OwnGitDir:
    """Return what a workspace's git directory is like now."""
    todo = read_small(git_dir / _TODO)
    return OwnGitDir(
        head=read_small(git_dir / "HEAD", 4096),
        steering={name: mark_of(git_dir / name) for name in _STEERING},
        todo=None if todo is None else tuple(line.strip() for line in todo.splitlines()),
    )
