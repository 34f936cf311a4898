"""Whether a worktree's git directory may serve the next fork: nothing of the last one is in it.

Whoever worked in the worktree could write there. A name that is not known, a branch that is checked
out, a merge under way, links that lead elsewhere: then the worktree is not used again.
"""

import os
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.namedtuples import NamedTuple
from siding.record.worktrees.listing import git_dir_of

_KNOWN = frozenset({"HEAD", "index", "commondir", "gitdir"})
# Left by commits, resets and fetches; the snapshots have what they name.
_LEFT = ("ORIG_HEAD", "COMMIT_EDITMSG", "FETCH_HEAD", "logs/HEAD")
_DIRECTORIES = {"logs": {"HEAD"}, "refs": set()}


class GitDir(NamedTuple):
    """The git directory of a worktree at `path`, of the repository at `common`."""

    path: Path
    git_dir: Path
    common: Path


def is_clean(place: GitDir) -> bool:
    """Tell whether there is nothing in it but what git needs, or leaves behind after commits."""
    git_dir = place.git_dir
    try:
        names = set(os.listdir(git_dir)) - _KNOWN - set(_LEFT)
        if not names <= _DIRECTORIES.keys():
            return False
        for name in names:
            directory = git_dir / name
            if directory.is_symlink() or not set(os.listdir(directory)) <= _DIRECTORIES[name]:
                return False
        common = read_small(git_dir / "commondir", 8192) or b""
        pointer = read_small(git_dir / "gitdir", 8192) or b""
    except OSError:
        return False
    there = os.path.normpath(git_dir / os.fsdecode(common.strip()))
    named = Path(os.path.normpath(git_dir / os.fsdecode(pointer.strip(b"\r\n"))))
    return (
        os.path.realpath(there) == os.path.realpath(place.common)
        and os.path.realpath(named.parent) == os.path.realpath(place.path)
        and git_dir_of(place.path) == Path(os.path.realpath(git_dir))
    )


def forget_leftovers(git_dir: Path) -> None:
    """Remove what commits have left: the log of HEAD would keep them alive for the next fork."""
    for name in _LEFT:
        (git_dir / name).unlink(missing_ok=True)
