"""Bring a move that was cut off to one side: the branch, the files and the index.

The list of the staged files says which are exchanged (`staged_checkout.py`). If all the others are
as they were when git compared them, the move is completed; else it is reversed. Neither needs git
to understand the person's index, nor room on the disk.
"""

from collections.abc import Sequence

from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed, said_by
from siding.ground.git.paths import NOTHING
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.record.moving import checkout as checkouts
from siding.record.moving.checkout import CheckoutGit
from siding.record.moving.model import UNCHANGED, HalfMoved, Move, Trees
from siding.record.moving.move import RecoveredSide, changed_paths, swap, sweep_ref_locks
from siding.record.moving.settling import is_untouched, set_entries, settle, stands_at
from siding.record.moving.staged_checkout import (
    discard,
    end_steps,
    exchange,
    give_back,
    is_as_before,
    is_staged,
    listed_paths,
    pending,
)
from siding.record.snapshots.patches import Change


def recover(
    repository: Repository, user: UserSettings, move: Move, *, reason: str
) -> RecoveredSide:
    """Bring the branch and the checkout of a move that was cut off to the same side; return which.

    The move is completed if it had begun and the person's files allow it; otherwise it is reverted.
    The caller holds the lock that the move's git processes held, so none of them is running any
    more. Safe to repeat.
    """
    at = repository.branch(move.branch) if move.branch else None
    if move.checkout is None or not move.checkout.git_dir.is_dir():
        sweep_ref_locks(repository, move)
        return RecoveredSide.DONE if at is not None and at == move.new else RecoveredSide.UNDONE
    where = CheckoutGit(repository, user, move.checkout)
    ours = checkouts.lock_is_ours(move.checkout, move.token)
    if move.branch:
        side = side_of_branch(repository, move)
        if at != move.new:
            _clear(move)
            return side
    if is_staged(move.displaced):
        end_steps(move.checkout, move.displaced)
    changes = changed_paths(
        repository, Place(git_dir=repository.paths.common_dir), move.old, move.new
    )
    if not ours:
        ended = _unlocked(where, move, changes)
        if ended is not None:
            return ended
        checkouts.take_lock(move.checkout, move.token)
    if not is_staged(move.displaced):
        if move.aside is not None and not move.branch:  # no file can have been changed yet
            _clear(move)
            return RecoveredSide.UNDONE
        return _settled(where, move, changes, reason=reason)
    if _completed(where, move, changes):
        _clear(move)
        return RecoveredSide.DONE
    reverse(where, move, reason=reason)
    _clear(move)
    return RecoveredSide.UNDONE


def side_of_branch(repository: Repository, move: Move) -> RecoveredSide:
    """Tell whether a move that was cut off has moved its branch. Later commits may be on top.

    Removes ref locks that a killed git of the move left. Reads no file of a checkout.
    """
    sweep_ref_locks(repository, move)
    at = repository.branch(move.branch)
    if at is None or at == move.old:
        return RecoveredSide.UNDONE
    moved = at == move.new or repository.is_ancestor(move.new, at)
    return RecoveredSide.DONE if moved else RecoveredSide.UNDONE


def reverse(where: CheckoutGit, move: Move, *, reason: str) -> list[bytes]:
    """Restore the files that were exchanged, then move the branch to `move.old`.

    Returns the files that somebody has changed since, which stay as they are. The caller holds the
    lock. Raises HalfMoved, and keeps the lock, if the disk does not allow it.
    """
    try:
        end_steps(where.place, move.displaced)
        stays = give_back(where.place, move.displaced)
    except OSError as error:
        raise _half_moved(where, str(error)) from error
    if move.branch:
        _swap_back(where, move, reason)
    return stays


def _swap_back(where: CheckoutGit, move: Move, reason: str) -> None:
    """Move the branch to `move.old`. If that is refused, the files are there without it."""
    try:
        swap(where.repository, move.reversed(move.token), reason=f"undo: {reason}")
    except UNCHANGED as error:
        raise _half_moved(where, str(error)) from error


def _completed(where: CheckoutGit, move: Move, changes: Sequence[Change]) -> bool:
    """Exchange what is left and put the index in place; False if that cannot be done."""
    if not is_as_before(where.place, pending(move.displaced)):
        return False
    try:
        exchange(where.place, move.displaced, changes)
        if move.branch:
            _publish_index(where, move, changes)
    except (OSError, CommandFailed):
        return False
    return True


def _publish_index(where: CheckoutGit, move: Move, changes: Sequence[Change]) -> None:
    """Have the checkout's index agree with the new side; the person's other entries stay."""
    place, token = where.place, move.token
    checkouts.discard_index(place, token)
    private = checkouts.copy_index(place, token)
    entries = {each.path: (each.new_mode, each.new_sha) for each in changes}
    set_entries(where, private, entries)
    written = listed_paths(move.displaced)
    left_out = [each.path for each in changes if each.new_mode != NOTHING]
    checkouts.mark_left_out(where, private, [path for path in left_out if path not in written])
    checkouts.refresh_entries(where, private, changes)
    checkouts.put_in_place(place, private)


def _unlocked(where: CheckoutGit, move: Move, changes: Sequence[Change]) -> RecoveredSide | None:
    """Return how a move ended whose index lock is gone.

    Usually it was complete or, for files only, had not begun. None means that the branch moved and
    the checkout did not: somebody removed the lock, as git's own error message advises.
    """
    checkouts.discard_index(where.place, move.token)
    if is_staged(move.displaced):
        waiting = pending(move.displaced)
        if waiting and not move.branch:
            give_back(where.place, move.displaced)
            discard(move.displaced)
            return RecoveredSide.UNDONE
        untouched = move.branch and is_untouched(where, move.token, changes)
        return None if waiting or untouched else RecoveredSide.DONE
    if move.branch:
        untouched = is_untouched(where, move.token, changes)
        return None if untouched else RecoveredSide.DONE
    written = stands_at(where, move.token, changes)
    return RecoveredSide.DONE if written else RecoveredSide.UNDONE


def _settled(
    where: CheckoutGit, move: Move, changes: Sequence[Change], *, reason: str
) -> RecoveredSide:
    """Do the same for a move without a list: one of an earlier version, which wrote in place."""
    trees, token, publish = Trees(old=move.old, new=move.new), move.token, bool(move.branch)
    try:
        forward = settle(where, token, trees, changes, directory=move.displaced, publish=publish)
    except CommandFailed:  # git cannot use this index: see `_back`
        forward = False
    if forward:
        _clear(move)
        return RecoveredSide.DONE
    _back(where, move, changes, reason=reason)
    _clear(move)
    return RecoveredSide.UNDONE


def _back(where: CheckoutGit, move: Move, changes: Sequence[Change], *, reason: str) -> None:
    """Restore the files, then the branch, to `move.old`. The caller holds the lock.

    Raises HalfMoved, and keeps the lock, if git cannot use the index.
    """
    trees = Trees(old=move.new, new=move.old)
    back = [
        c._replace(old_mode=c.new_mode, new_mode=c.old_mode, old_sha=c.new_sha, new_sha=c.old_sha)
        for c in changes
    ]
    discard(move.displaced)
    try:
        settle(
            where,
            move.token,
            trees,
            back,
            directory=move.displaced,
            publish=bool(move.branch),
            whatever=True,
        )
    except CommandFailed as error:
        # For example, the index has unresolved conflicts. If no file was changed yet, there is
        # nothing to restore: the index is still the person's own, because it is replaced only at
        # the end.
        checkouts.discard_index(where.place, move.token)
        if not stands_at(where, move.token, back):
            raise _half_moved(where, _said(error)) from error
    if move.branch:
        _swap_back(where, move, reason)


def _said(error: CommandFailed) -> str:
    return "; ".join(said_by(error.stderr)) or "git did not say why"


def _half_moved(where: CheckoutGit, reason: str) -> HalfMoved:
    place = where.place
    return HalfMoved(
        f"the files in {str(place.root)!r} were changed in part, and can be brought neither "
        f"forward nor back: {reason}",
        hint="see to that (free space, permissions, conflicts to resolve), then `siding doctor` "
        f"brings the branch and the files to one side; until then {place.git_dir / 'index.lock'} "
        "keeps other gits away",
    )


def _clear(move: Move) -> None:
    assert move.checkout is not None
    discard(move.displaced)
    checkouts.discard_index(move.checkout, move.token)
    checkouts.release_dead_lock(move.checkout, move.token)
