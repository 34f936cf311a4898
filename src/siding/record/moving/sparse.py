"""Ask git which paths the sparse checkout of a worktree leaves out.

git's rules for that (cones, patterns, their settings) are git's: they are applied to an index.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.record.snapshots.patches import Change
from siding.record.snapshots.scratch import scratch

if TYPE_CHECKING:
    from siding.ground.git.repository import Repository

_REAPPLY = ["sparse-checkout", "reapply"]
_NOTHING = "000000"


def is_sparse(repository: "Repository", where: Place) -> bool:
    """Tell whether the worktree whose git directory `where` has leaves tracked files out."""
    if not (where.git_dir / "info" / "sparse-checkout").exists():
        return False
    done = repository.git.attempt(where, ["config", "--type=bool", "core.sparseCheckout"])
    return done.stdout.strip() == b"true"


def apply_rules(repository: "Repository", where: Place, keep_fds: Sequence[int] = ()) -> None:
    """Mark in the index of `where` what the sparse checkout leaves out; what it does not and is
    missing is not written. A git that cannot leaves the index as it is."""
    repository.git.attempt(where, _REAPPLY, keep_fds=keep_fds)


def left_out(
    repository: "Repository", where: Place, changes: Sequence[Change], parent: Path
) -> set[bytes]:
    """Return the paths of `changes` that the sparse checkout leaves out, before or after.

    `where` has the worktree's git directory; `parent` is a directory for temporary ones.
    """
    if not changes or not is_sparse(repository, where):
        return set()
    with scratch(parent / f"sparse-{os.urandom(4).hex()}") as directory:
        empty = directory / "files"
        empty.mkdir()
        place = where._replace(work_tree=empty, index_file=directory / "index", locks=True)
        lines = [_line(c) + c.path for c in changes]
        repository.git.run(
            place,
            ["update-index", "-z", "--index-info"],
            doing="asking what the sparse checkout leaves out",
            stdin=b"".join(line + b"\0" for line in lines),
        )
        apply_rules(repository, place)
        listed = repository.git.run(
            place, ["ls-files", "-t", "-z"], doing="asking what the sparse checkout leaves out"
        )
    return {line[2:] for line in listed.split(b"\0") if line[:1] == b"S"}


def _line(change: Change) -> bytes:
    """Return the entry of the side on which the path is there."""
    is_there = change.new_mode != _NOTHING
    mode, sha = (
        (change.new_mode, change.new_sha) if is_there else (change.old_mode, Sha(change.old_sha))
    )
    return f"{mode} {sha}\t".encode("ascii")
