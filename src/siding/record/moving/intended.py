"""Put entries into an index that are only intended to be added, whether their file exists or not.

`git update-index` cannot make them, and `git add -N` wants a file. So it is shown a directory of
empty ones.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.git.repository import Repository
from siding.record.snapshots.git_details import IndexEntry
from siding.record.snapshots.store import remove_tree

_NAME = "siding-intended"
_ADD = ["add", "-N", "-f", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"]


def add_intended(
    repository: Repository,
    where: Place,
    entries: Sequence[IndexEntry],
    keep_fds: Sequence[int],
) -> None:
    """Add the entries of this kind to the index of `where`. Raises GitFailed and OSError."""
    intended = [entry for entry in entries if "i" in entry.flags]
    if not intended:
        return
    discard_intended(where.git_dir)
    scratch = where.git_dir / _NAME
    scratch.mkdir(mode=0o700)
    try:
        for entry in intended:
            _stand_in(scratch, entry)
        repository.git.run(
            where._replace(work_tree=scratch),
            _ADD,
            doing="bringing the index back",
            stdin=b"".join(entry.path + b"\0" for entry in intended),
            keep_fds=keep_fds,
        )
    finally:
        discard_intended(where.git_dir)


def discard_intended(git_dir: Path) -> None:
    """Remove the directory; a link in its place is not followed."""
    scratch = git_dir / _NAME
    if scratch.is_symlink() or scratch.is_file():
        scratch.unlink()
    else:
        remove_tree(scratch)


def _stand_in(scratch: Path, entry: IndexEntry) -> None:
    """Make an empty file of the mode that the entry has."""
    path = scratch / os.fsdecode(entry.path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.mode == "120000":
        path.symlink_to("nothing")
    else:
        path.touch(mode=0o700 if entry.mode == "100755" else 0o600)
