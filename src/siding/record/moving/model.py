"""The values and errors of moving a branch with its checkout. No disk."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.git.errors import DriverOff, GitError
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.files.displaced import DISPLACED


class CheckoutPlace(NamedTuple):
    """The root of one of the person's checkouts, and its git directory."""

    root: Path
    git_dir: Path


class Trees(NamedTuple):
    """Two commits or trees: the files go from `old` to `new`."""

    old: Sha
    new: Sha


class IndexLocked(GitError):
    """Another git command holds, or left behind, the lock of the checkout's index."""

    code = "index_locked"


class Overlapping(GitError):
    """The change would overwrite uncommitted or untracked files of the person."""

    code = "overlap"

    def __init__(self, overlaps: "Overlaps", where: Path) -> None:
        self.overlaps = overlaps
        names = ", ".join(quote_path(path) for path in overlaps.all[:5])
        more = f" and {len(overlaps.all) - 5} more" if len(overlaps.all) > 5 else ""
        super().__init__(
            f"your own changes in {str(where)!r} are where this would go: {names}{more}",
            hint="commit them, or move them away; nothing was changed",
        )


class TargetMoved(GitError):
    """The branch has moved since the apply was prepared."""

    code = "target_moved"


class CheckoutBusy(GitError):
    """A merge, a rebase or the like is unfinished in the checkout of the branch."""

    code = "checkout_busy"


class HalfMoved(GitError):
    """A checkout was changed in part, and git can now neither complete nor revert that."""

    code = "half_moved"


class RefusedMove(GitError):
    """git or a hook of the person refused the move. Nothing was changed."""

    code = "refused"


UNCHANGED = (Overlapping, TargetMoved, CheckoutBusy, RefusedMove, IndexLocked, DriverOff)
"""If one of these is raised, nothing was changed. After any other exception, call `recover`."""


class Overlaps(NamedTuple):
    """Files of the person that are in the way: tracked and changed, or unknown to git."""

    changed: tuple[bytes, ...]
    unknown: tuple[bytes, ...]

    @property
    def all(self) -> tuple[bytes, ...]:
        return tuple(sorted({*self.changed, *self.unknown}))


class Move(NamedTuple):
    """One move: a branch goes from commit `old` to `new`, and so do the files of its checkout.

    `branch` is empty if only files are written (``--mode patch``); `old` and `new` are then trees.
    `checkout` is where the branch is checked out, None if nowhere. `token` is unique to this move.
    `aside` is a directory for what is displaced in the checkout, on its file system.
    """

    branch: str
    old: Sha
    new: Sha
    checkout: CheckoutPlace | None
    token: str
    aside: Path | None = None

    @property
    def displaced(self) -> Path:
        """The directory of the staged and the displaced files."""
        assert self.checkout is not None
        own = self.checkout.git_dir / f"siding-{self.token}"  # a move of an earlier version
        return (self.aside or own) / DISPLACED

    def as_record(self) -> dict[str, Any]:
        """Return the move as a JSON object. `move_from` reads it back."""
        record: dict[str, Any] = {
            "branch": self.branch,
            "old": self.old,
            "new": self.new,
            "token": self.token,
        }
        if self.checkout is not None:
            record["checkout"] = os.fsdecode(self.checkout.root)
            record["git_dir"] = os.fsdecode(self.checkout.git_dir)
        if self.aside is not None:
            record["aside"] = os.fsdecode(self.aside)
        return record

    def reversed(self, token: str) -> "Move":
        """Return the move in the other direction, with a new token."""
        return self._replace(old=self.new, new=self.old, token=token)


def move_from(record: Mapping[str, Any]) -> Move:
    """Return the move that `Move.as_record` wrote."""
    place = None
    if record.get("checkout"):
        place = CheckoutPlace(root=Path(record["checkout"]), git_dir=Path(record["git_dir"]))
    return Move(
        branch=str(record.get("branch", "")),
        old=Sha(str(record["old"])),
        new=Sha(str(record["new"])),
        checkout=place,
        token=str(record["token"]),
        aside=Path(record["aside"]) if record.get("aside") else None,
    )
