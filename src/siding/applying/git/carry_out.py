"""Carry out a move: git stages the new files, the branch moves, the files are exchanged.

If anything fails before the branch moves, nothing was changed. If the exchange fails, what it did
is reversed, which needs neither git nor room.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.git.errors import CommandFailed, said_by
from siding.ground.git.paths import quote_path
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings
from siding.record.moving import checkout as checkouts
from siding.record.moving.checkout import CheckoutGit
from siding.record.moving.model import UNCHANGED, CheckoutPlace, Move, Overlaps, RefusedMove, Trees
from siding.record.moving.move import overlaps, refuse_busy, refuse_overlaps, swap
from siding.record.moving.staged_checkout import discard, exchange, identities, stage
from siding.record.snapshots.patches import Change


def carry_out(
    repository: Repository,
    user: UserSettings,
    move: Move,
    changes: Sequence[Change],
    *,
    reason: str,
    hooks: Sequence[str] = (),
    keep_fds: Sequence[int] = (),
) -> None:
    """Move the branch and its checkout from `old` to `new`, or leave both as they are.

    `hooks` are git settings that let the person's hooks run (`core.hooksPath=...`). If an exception
    in `UNCHANGED` is raised, nothing was changed. After any other one, and after a crash, call
    `recover`.
    """
    if move.checkout is None:
        swap(repository, move, reason=reason, hooks=hooks, keep_fds=keep_fds)
        return
    where = CheckoutGit(repository, user, move.checkout)
    _refuse_off(where, move, changes)
    lock = checkouts.take_lock(move.checkout, move.token)
    try:
        before = identities(move.checkout, changes)
        private = _ready(repository, user, move, move.checkout, changes)
        _stage(where, move, changes, private, before, keep_fds)
        if move.branch:
            swap(repository, move, reason=reason, hooks=hooks, keep_fds=keep_fds)
        _exchange(where, move, changes, reason=reason)
    except UNCHANGED:
        discard(move.displaced)
        checkouts.discard_index(move.checkout, move.token)
        lock.release()
        raise
    # Any other exception leaves the lock in place, as a crash does. `recover` removes it.
    if move.branch:
        checkouts.refresh_entries(where, private, changes)
        checkouts.put_in_place(move.checkout, private)
    checkouts.discard_index(move.checkout, move.token)
    lock.release()


def take_back(
    repository: Repository,
    user: UserSettings,
    move: Move,
    changes: Sequence[Change],
) -> None:
    """Restore files that a move without a branch wrote.

    Raises Overlapping if one of them was changed, staged or committed since.
    """
    from siding.record.moving.move_recovery import set_entries, unstaged_at

    assert move.checkout is not None
    where = CheckoutGit(repository, user, move.checkout)
    _refuse_off(where, move, changes)
    lock = checkouts.take_lock(move.checkout, move.token)
    try:
        refuse_busy(repository, move.checkout)
        before = identities(move.checkout, changes)
        kept = unstaged_at(where, move.token, changes)
        others = tuple(c.path for c in changes if c.path not in kept)
        refuse_overlaps(Overlaps(changed=others, unknown=()), move.checkout)
        private = checkouts.copy_index(move.checkout, move.token)
        set_entries(where, private, {c.path: (c.old_mode, c.old_sha) for c in changes})
        _stage(where, move, changes, private, before, ())
        _exchange(where, move, changes, reason="")
    except UNCHANGED:
        discard(move.displaced)
        checkouts.discard_index(move.checkout, move.token)
        lock.release()
        raise
    checkouts.discard_index(move.checkout, move.token)
    lock.release()


def _refuse_off(where: CheckoutGit, move: Move, changes: Sequence[Change]) -> None:
    """Raise DriverOff if git would write a file of the checkout without the filter it needs.

    The plan of an apply has asked already. An undo comes here without one.
    """
    if where.user.off_filters:
        from siding.applying.git.own_filters import changed_files, refuse_off

        refuse_off(
            where.repository.git,
            where.at(None),
            where.user,
            (move.old, move.new),
            changed_files(changes),
            scratch=checkouts.private_index(where.place, f"{move.token}-attributes"),
        )


def _ready(
    repository: Repository,
    user: UserSettings,
    move: Move,
    place: CheckoutPlace,
    changes: Sequence[Change],
) -> Path:
    """Return a copy of the index to work on. Raises an error of `UNCHANGED` if something is in the
    way.

    The caller holds the lock, so no other git command can start to change the checkout.
    """
    refuse_busy(repository, place)
    private = checkouts.copy_index(place, move.token)
    try:
        refuse_overlaps(overlaps(repository, user, place, changes, index=private), place)
    except CommandFailed as error:
        raise _refused(place, "could not be compared", error) from error
    return private


def _stage(
    where: CheckoutGit,
    move: Move,
    changes: Sequence[Change],
    private: Path,
    before: Mapping[bytes, str],
    keep_fds: Sequence[int],
) -> None:
    trees = Trees(old=move.old, new=move.new)
    try:
        stage(
            where,
            trees,
            changes,
            move.displaced,
            index=private,
            before=before,
            keep_fds=keep_fds,
        )
    except CommandFailed as error:
        raise _refused(where.place, "could not be changed", error) from error


def _exchange(where: CheckoutGit, move: Move, changes: Sequence[Change], *, reason: str) -> None:
    """Exchange the files. If that fails, reverse it, move the branch back and raise RefusedMove."""
    try:
        exchange(where.place, move.displaced, changes)
    except OSError as error:
        from siding.record.moving.move_recovery import reverse

        stays = reverse(where, move, reason=reason)
        but = f", but for {', '.join(map(quote_path, stays))}, saved meanwhile" if stays else ""
        raise RefusedMove(
            f"the files in {str(where.place.root)!r} could not be changed: {error}",
            hint=f"nothing was changed: the branch and the files are as they were{but}",
        ) from error


def _refused(place: CheckoutPlace, what: str, error: CommandFailed) -> RefusedMove:
    said = "; ".join(said_by(error.stderr)) or "git did not say why"
    return RefusedMove(
        f"the files in {str(place.root)!r} {what}: {said}",
        hint="nothing was changed: the branch and the files are as they were",
    )
