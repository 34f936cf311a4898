"""A commit on a task's branch, taken in its workspace without running anything of it.

The tree was worked out from the files by a look (`peek`), the commit made on a bench: here only the
branch moves, by compare-and-swap, and the workspace's index is made to agree, on a copy, under
git's own lock. No hook runs, and no file of the workspace is written.
"""

from collections.abc import Sequence

from siding.git.applying.checkout import (
    CheckoutPlace,
    IndexLocked,
    copy_index,
    discard_index,
    git_place,
    put_in_place,
    release_dead_lock,
    take_lock,
)
from siding.git.applying.move import Move, RecoveredSide, side_of_branch, swap
from siding.git.errors import GitError
from siding.git.repository import Repository
from siding.git.settings import UserSettings


def advance(
    repository: Repository,
    move: Move,
    *,
    reason: str,
    keep_fds: Sequence[int] = (),
) -> None:
    """Move the branch, durably; raises TargetMoved or CheckoutBusy with nothing changed.

    A lock that git could not take away again is swept: it would stand in everybody's way.
    """
    swap(repository, move, reason=reason, keep_fds=keep_fds)
    has_happened(repository, move)


def has_happened(repository: Repository, move: Move) -> bool:
    """Tell whether a move that was cut off moved its branch; sweeps the locks that it left.

    Nobody runs the move any more. A branch that has gone on since has the commit behind it.
    """
    if move.checkout is not None and move.checkout.git_dir.is_dir():
        release_dead_lock(move.checkout, move.token)
        discard_index(move.checkout, move.token)
    try:
        return side_of_branch(repository, move) is RecoveredSide.DONE
    except GitError:  # nothing points at the commit, and git has thrown it away
        return repository.branch(move.branch) == move.new


def agree_index(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    move: Move,
    *,
    keep_fds: Sequence[int] = (),
) -> bool:
    """Make the index of the workspace say what the new commit says; files stay as they are.

    Returns False when another git holds the index: the commit stands, and `git reset` in the
    workspace does the same later. Raises CommandFailed and OSError with the index as it was.
    """
    try:
        lock = take_lock(place, move.token)
    except IndexLocked:
        return False
    try:
        private = copy_index(place, move.token)
        where = git_place(repository, user, place, private)
        repository.git.run(
            where,
            ["read-tree", "--reset", move.new],
            doing="bringing the index up to date",
            keep_fds=keep_fds,
        )
        repository.git.attempt(where, ["update-index", "-q", "--refresh"], keep_fds=keep_fds)
        put_in_place(place, private)
    finally:
        discard_index(place, move.token)
        lock.release()
    return True
