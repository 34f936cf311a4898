"""Put a commit on a task's branch without running anything in its workspace.

The commit was made on a bench, with the tree that a look at the workspace found. Here only the
branch moves, by compare-and-swap. Then the workspace's index is set to the commit, on a copy and
under git's own lock. No hook runs and no file of the workspace is written.
"""

from collections.abc import Sequence

from siding.ground.git.errors import GitError
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.record.moving.checkout import (
    copy_index,
    discard_index,
    git_place,
    put_in_place,
    release_dead_lock,
    take_lock,
)
from siding.record.moving.model import CheckoutPlace, IndexLocked, Move
from siding.record.moving.move import RecoveredSide, swap
from siding.record.moving.move_recovery import side_of_branch


def advance(
    repository: Repository,
    move: Move,
    *,
    reason: str,
    keep_fds: Sequence[int] = (),
) -> None:
    """Move the branch, durably. If TargetMoved or CheckoutBusy is raised, nothing was changed.

    A ref lock that git left behind is removed: it would block every later command on the branch.
    """
    swap(repository, move, reason=reason, keep_fds=keep_fds)
    has_happened(repository, move)


def has_happened(repository: Repository, move: Move) -> bool:
    """Tell whether a move that was cut off moved its branch. Removes the locks that it left.

    The caller makes sure that the move is not running any more. Later commits may be on top.
    """
    if move.checkout is not None and move.checkout.git_dir.is_dir():
        release_dead_lock(move.checkout, move.token)
        discard_index(move.checkout, move.token)
    try:
        return side_of_branch(repository, move) is RecoveredSide.DONE
    except GitError:  # no ref names the commit, and `git gc` has removed it
        return repository.branch(move.branch) == move.new


def agree_index(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    move: Move,
    *,
    keep_fds: Sequence[int] = (),
) -> bool:
    """Set the workspace's index to the new commit. No file is changed.

    Returns False if another git command holds the index; `git reset` in the workspace does the same
    later. If CommandFailed or OSError is raised, the index was not changed.
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
