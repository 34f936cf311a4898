"""Bring a move that was cut off to one side: the branch, the files and the index.

The list of the staged files says which are exchanged (`staged_checkout.py`). If all the others are
as they were when git compared them, the move is completed; else it is reversed. Neither needs git
to understand the person's index, nor room on the disk.

Of some moves no staged files are known: they were cut off by an earlier version, or after somebody
removed git's lock. Then git is asked at which side the files of the checkout are (`settle`).
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed, said_by
from siding.ground.git.paths import GITLINK, NOTHING, join
from siding.ground.git.repository import Repository
from siding.ground.git.settings import UserSettings, filter_environment
from siding.ground.ids import Sha
from siding.record.moving import checkout as checkouts
from siding.record.moving.checkout import (
    CheckoutGit,
    copy_index,
    discard_index,
    is_real_directory,
    put_in_place,
)
from siding.record.moving.model import UNCHANGED, HalfMoved, Move, Trees
from siding.record.moving.move import RecoveredSide, changed_paths, swap, sweep_ref_locks
from siding.record.moving.staged_checkout import (
    discard,
    end_steps,
    exchange,
    give_back,
    identities,
    is_as_before,
    is_staged,
    listed_paths,
    pending,
    stage,
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


def set_entries(where: CheckoutGit, private: Path, sides: Mapping[bytes, tuple[str, Sha]]) -> None:
    """Set entries of a copy of the index, given as path -> (mode, object id)."""
    zeros = "0" * where.repository.paths.hash_size
    lines = []
    for path, (mode, sha) in sides.items():
        about = f"0 {zeros}" if mode == NOTHING else f"{mode} {sha}"
        lines.append(about.encode("ascii") + b"\t" + path + b"\0")
    if lines:
        where.repository.git.run(
            where.at(private),
            ["update-index", "--replace", "-z", "--index-info"],
            doing="preparing the index",
            stdin=b"".join(lines),
        )


def settle(
    where: CheckoutGit,
    token: str,
    trees: Trees,
    changes: Sequence[Change],
    *,
    directory: Path,
    publish: bool,
    whatever: bool = False,
) -> bool:
    """Bring the files to the new of the `trees`. Each may be as in the old, as in the new, or half
    written.

    What is replaced goes into the new `directory`. The caller holds the lock. Returns False, and
    changes no file, if the person has changed one of them meanwhile. With `whatever` such a file is
    left as it is and the others are changed.
    """
    discard_index(where.place, token)
    private = copy_index(where.place, token)
    here = _Files(where, private, changes)
    at_old, at_new = here.at(new=False), here.at(new=True)
    lost = {c.path for c in changes if c.path not in at_old | at_new and here.is_lost(c)}
    others = {c.path for c in changes} - at_old - at_new - lost
    if others and not whatever:
        discard_index(where.place, token)
        return False
    discard_index(where.place, token)
    copy_index(where.place, token)
    here.set_entries(
        {
            c.path: (c.old_mode, c.old_sha) if c.path in at_old else (c.new_mode, c.new_sha)
            for c in changes
        }
    )
    here.refresh()
    going = [c for c in changes if c.path in at_old or c.path in lost]
    stage(
        where,
        trees,
        going,
        directory,
        index=private,
        before=identities(where.place, going),
        whole=[c for c in going if c.path in lost],
    )
    exchange(where.place, directory, going)
    if publish:
        put_in_place(where.place, private)
    discard_index(where.place, token)
    return True


def unstaged_at(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> set[bytes]:
    """Return the paths that were written and neither changed, staged nor committed since.

    `changes` lead back: the file must equal the old side, the index entry the new side.
    """
    sides = {c.path: None if c.new_mode == NOTHING else (c.new_mode, c.new_sha) for c in changes}
    with _seen(where, token, changes) as here:
        entries = here.entries()
        return {path for path in here.at(new=False) if entries.get(path) == sides[path]}


def stands_at(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> bool:
    """Tell whether every file equals the new side of its change. Writes only a copy of the
    index."""
    with _seen(where, token, changes) as here:
        return here.at(new=True) == {change.path for change in changes}


def is_untouched(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> bool:
    """Tell whether every path equals the old side of its change, in the index and on disk."""
    sides = {c.path: None if c.old_mode == NOTHING else (c.old_mode, c.old_sha) for c in changes}
    with _seen(where, token, changes) as here:
        entries = here.entries()
        staged = {path for path, side in sides.items() if entries.get(path) == side}
        return bool(sides) and len(staged) == len(sides) and here.at(new=False) == set(sides)


@contextmanager
def _seen(
    where: CheckoutGit,
    token: str,
    changes: Sequence[Change],
) -> "Iterator[_Files]":
    """Yield the changed paths seen through a copy of the index, which is removed afterwards."""
    private = copy_index(where.place, token)
    try:
        yield _Files(where, private, changes)
    finally:
        discard_index(where.place, token)


class _Files:
    """The changed paths as they are on disk, seen through a copy of the index."""

    def __init__(self, where: CheckoutGit, private: Path, changes: Sequence[Change]) -> None:
        self._git = where.repository.git
        self._repository, self._user = where.repository, where.user
        self._where, self._private = where, private
        self._place = where.at(private)
        self._changes = changes
        self._root = os.fsencode(where.place.root)

    def at(self, *, new: bool) -> set[bytes]:
        """Return the paths whose files equal the new (or old) side, as git would store them."""
        sides = {
            c.path: (c.new_mode, c.new_sha) if new else (c.old_mode, c.old_sha)
            for c in self._changes
        }
        absent = {path for path, (mode, _) in sides.items() if mode == NOTHING}
        links = {path for path, (mode, _) in sides.items() if mode == GITLINK}
        self.set_entries(sides)
        self.refresh()
        output = self._git.run(
            self._place,
            ["diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"],
            doing="comparing the files of the checkout",
        )
        different = set(output.split(b"\0")[1::2])
        present = {p for p in sides if p not in absent and p not in links and p not in different}
        gone = {
            p
            for p in absent
            if not os.path.lexists(join(self._root, p)) or is_real_directory(join(self._root, p))
        }
        return present | gone | links

    def is_lost(self, change: Change) -> bool:
        """Tell whether the path has nothing of the person's: no file, or one that git was writing
        when it died."""
        full = join(self._root, change.path)
        if not os.path.lexists(full):
            return True
        if os.path.islink(full) or not os.path.isfile(full):
            return False
        for mode, sha in ((change.new_mode, change.new_sha), (change.old_mode, change.old_sha)):
            if mode not in (NOTHING, GITLINK) and self._begins(full, change.path, sha):
                return True
        return False

    def entries(self) -> dict[bytes, tuple[str, str]]:
        """Return the index entries of the changed paths as path -> (mode, object id)."""
        output = self._git.run(self._place, ["ls-files", "-s", "-z"], doing="reading the index")
        wanted = {change.path for change in self._changes}
        found: dict[bytes, tuple[str, str]] = {}
        for line in output.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            if path in wanted:
                mode, sha, _stage = about.decode("ascii").split(" ")
                found[path] = (mode, sha)
        return found

    def refresh(self) -> None:
        self._git.attempt(self._place, ["update-index", "-q", "--refresh"])

    def set_entries(self, sides: dict[bytes, tuple[str, Sha]]) -> None:
        """Set these index entries, given as path -> (mode, object id)."""
        set_entries(self._where, self._private, sides)

    def _begins(self, full: bytes, path: bytes, sha: str) -> bool:
        size = os.lstat(full).st_size
        if size == 0:
            return True
        shown = os.fsdecode(path)
        done = self._git.attempt(
            self._place,
            ["cat-file", "--filters", f"--path={shown}", sha],
            env=filter_environment(self._git, self._user),
        )
        if done.returncode or size >= len(done.stdout):
            return False
        with open(full, "rb") as file:
            return file.read() == done.stdout[:size]
