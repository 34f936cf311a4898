"""Move a branch together with the checkout that has it, without touching the person's own work.

The branch moves by compare-and-swap. The checkout follows by a two-tree merge, which changes only
the paths that differ. The person's git must not run between the two, and a crash must not leave one
without the other. Therefore:

- git's ``index.lock`` of the checkout is taken first, with a token in it. So no other git command
  changes the index, and after a crash it is known that the lock is ours.
- The new index is made beside the old one and renamed into place at the end.
- The caller has written the `Move` to disk before. So `recover` can bring the branch and the
  checkout to the same side after a crash at any point.

Nothing here stashes, switches a branch, writes conflict markers into the person's files, or
overwrites an ignored or untracked file.
"""

import os
import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.files.durable import flush_dir
from siding.files.regular import read_small
from siding.git import refs
from siding.git.applying import checkout as checkouts
from siding.git.applying.bench import Bench
from siding.git.applying.checkout import CheckoutPlace, IndexLocked, Trees
from siding.git.applying.unfinished import unfinished_in
from siding.git.command import Place
from siding.git.errors import CommandFailed, GitError, said_by
from siding.git.paths import is_under, quote_path
from siding.git.repository import Repository
from siding.git.settings import UserSettings
from siding.git.snapshots.directory_scan import identity
from siding.git.snapshots.patches import Change, DiffStat, parse_raw, parse_stat
from siding.git.worktrees.linked import worktrees
from siding.ids import Sha
from siding.namedtuples import NamedTuple

_LIVE_S = 0.3


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


UNCHANGED = (Overlapping, TargetMoved, CheckoutBusy, RefusedMove, IndexLocked)
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
    """

    branch: str
    old: Sha
    new: Sha
    checkout: CheckoutPlace | None
    token: str

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
        return record

    def reversed(self, token: str) -> "Move":
        """Return the move in the other direction, with a new token."""
        return self._replace(old=self.new, new=self.old, token=token)


class RecoveredSide(StrEnum):
    """The side to which a move that was cut off was brought: old (undone) or new (done)."""

    DONE = "done"
    UNDONE = "undone"


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
    )


def checkout_of(repository: Repository, branch: str) -> CheckoutPlace | None:
    """Return the checkout of a branch, None if it is checked out nowhere.

    A worktree whose directory is gone does not count. Raises CheckoutBusy if the branch is being
    rebased, is checked out twice, or its checkout is busy.
    """
    found: list[CheckoutPlace] = []
    for info in worktrees(repository):
        if info.path is None or not info.path.is_dir():
            continue
        _refuse_rebase_of(info.git_dir, info.path, branch)
        if info.head is not None and info.head.branch == branch:
            found.append(CheckoutPlace(root=info.path, git_dir=info.git_dir))
    if len(found) > 1:
        places = " and ".join(repr(str(each.root)) for each in found)
        raise CheckoutBusy(
            f"branch {branch!r} is checked out at {places}", hint="let one of them go elsewhere"
        )
    if found:
        refuse_busy(repository, found[0])
    return found[0] if found else None


def refuse_busy(repository: Repository, place: CheckoutPlace) -> None:
    """Raise CheckoutBusy if a merge, a rebase or the like is unfinished in the checkout.

    Conflicts in the index count as well: `git stash pop` leaves conflicts and no other trace.
    """
    found = unfinished_in(repository.git, repository.paths.common_dir, place)
    if found is not None:
        raise CheckoutBusy(
            f"{found.what} in {str(place.root)!r}", hint=f"{found.finish}; nothing was changed"
        )


def changed_paths(repository: Repository, place: Place, old: Sha, new: Sha) -> list[Change]:
    """Return the paths that differ between two commits or trees."""
    arguments = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new]
    return parse_raw(repository.git.run(place, arguments, doing="comparing with the target"))


def counted_paths(bench: Bench, old: Sha, new: Sha) -> tuple[list[Change], DiffStat]:
    """Return the paths that differ between two trees, and the numbers of changed lines."""
    arguments = [
        "diff-tree",
        "-r",
        "--raw",
        "--numstat",
        "-z",
        "--no-renames",
        "--no-abbrev",
        "--no-ext-diff",
        "--no-textconv",
        old,
        new,
    ]
    output = bench.git.run(bench.place(), arguments, doing="comparing with the target")
    return parse_raw(output), parse_stat(output)


def overlaps(
    repository: Repository,
    user: UserSettings,
    place: CheckoutPlace,
    changes: Sequence[Change],
    *,
    index: Path | None = None,
) -> Overlaps:
    """Return the person's files in a checkout that `changes` would overwrite.

    Writes nothing, except that a copy of the index given as `index` is refreshed.
    """
    if not changes:
        return Overlaps(changed=(), unknown=())
    dirty, excused = checkouts.dirty_paths(repository, user, place, changes, index=index)
    incoming = [change.path for change in changes]
    exact = set(incoming)
    changed = {
        path
        for path in dirty
        if path in exact or any(is_under(path, p) or is_under(p, path) for p in incoming)
    }
    unknown = checkouts.in_the_way(place, changes) - changed
    # git takes a path that is excused from comparison for unchanged, whatever is on disk.
    unknown |= excused - changed
    return Overlaps(changed=tuple(sorted(changed)), unknown=tuple(sorted(unknown)))


def refuse_overlaps(found: Overlaps, place: CheckoutPlace) -> None:
    """Raise Overlapping if files of the person are in the way."""
    if found.all:
        raise Overlapping(found, place.root)


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
    lock = checkouts.take_lock(move.checkout, move.token)
    try:
        private = _ready(repository, user, move, move.checkout, changes)
        if move.branch:
            swap(repository, move, reason=reason, hooks=hooks, keep_fds=keep_fds)
        try:
            checkouts.read_trees(
                repository, user, move.checkout, private, move.old, move.new, keep_fds=keep_fds
            )
        except CommandFailed as error:
            _back(repository, user, move, changes, reason=reason)
            raise _refused(move.checkout, "could not be changed", error) from error
    except UNCHANGED:
        checkouts.discard_index(move.checkout, move.token)
        lock.release()
        raise
    # Any other exception leaves the lock in place, as a crash does. `recover` removes it.
    if move.branch:
        checkouts.put_in_place(move.checkout, private)
    checkouts.discard_index(move.checkout, move.token)
    lock.release()


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


def _refused(place: CheckoutPlace, what: str, error: CommandFailed) -> RefusedMove:
    said = "; ".join(said_by(error.stderr)) or "git did not say why"
    return RefusedMove(
        f"the files in {str(place.root)!r} {what}: {said}",
        hint="nothing was changed: the branch and the files are as they were",
    )


def take_back(
    repository: Repository,
    user: UserSettings,
    move: Move,
    changes: Sequence[Change],
) -> None:
    """Restore files that a move without a branch wrote.

    Raises Overlapping if one of them was changed, staged or committed since.
    """
    assert move.checkout is not None
    lock = checkouts.take_lock(move.checkout, move.token)
    try:
        refuse_busy(repository, move.checkout)
        trees = Trees(old=move.old, new=move.new)
        kept = checkouts.unstaged_at(repository, user, move.checkout, move.token, changes)
        others = tuple(c.path for c in changes if c.path not in kept)
        refuse_overlaps(Overlaps(changed=others, unknown=()), move.checkout)
        checkouts.settle(repository, user, move.checkout, move.token, trees, changes, publish=False)
    except UNCHANGED:
        checkouts.discard_index(move.checkout, move.token)
        lock.release()
        raise
    lock.release()


def pushed_to(repository: Repository, commit: Sha) -> list[str]:
    """Return the remote-tracking branches that contain the commit."""
    output = repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["for-each-ref", "--format=%(refname:short)", "--contains", commit, "refs/remotes"],
        doing="looking for remote branches",
    )
    return output.decode("utf-8", "replace").split()


def swap(
    repository: Repository,
    move: Move,
    *,
    reason: str,
    hooks: Sequence[str] = (),
    keep_fds: Sequence[int] = (),
) -> None:
    """Move the branch if it is still at `move.old`, durably.

    Raises TargetMoved, RefusedMove or CheckoutBusy; then nothing was changed.
    """
    refs.check_ref_part(move.branch)
    git_dir = move.checkout.git_dir if move.checkout else repository.paths.common_dir
    place = Place(
        git_dir=git_dir,
        common_dir=repository.paths.common_dir,
        settings=("core.logAllRefUpdates=always", *hooks),
    )
    name = f"refs/heads/{move.branch}"
    done = repository.git.attempt(
        place,
        ["update-ref", "--create-reflog", "-m", reason, name, move.new, move.old],
        keep_fds=keep_fds,
    )
    if done.returncode == 0:
        _flush_ref(repository, name)
        return
    present = repository.branch(move.branch)
    if present == move.new:
        return
    if present != move.old:
        shown = present[:12] if present else "gone"
        raise TargetMoved(
            f"branch {move.branch!r} is at {shown} now, not at {move.old[:12]}",
            hint="look at the preview again; nothing was changed",
        )
    said = "; ".join(said_by(done.stderr)) or "git did not say why"
    if hooks:
        raise RefusedMove(
            f"branch {move.branch!r} could not be moved: {said}", hint="nothing was changed"
        )
    raise CheckoutBusy(
        f"branch {move.branch!r} could not be moved: {said}",
        hint="another git may be at work on it; try again. Nothing was changed",
    )


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
        _sweep_ref_locks(repository, move)
        return RecoveredSide.DONE if at is not None and at == move.new else RecoveredSide.UNDONE
    ours = checkouts.lock_is_ours(move.checkout, move.token)
    if move.branch:
        side = side_of_branch(repository, move)
        if at != move.new:
            _clear(move)
            return side
    changes = changed_paths(
        repository, Place(git_dir=repository.paths.common_dir), move.old, move.new
    )
    trees = Trees(old=move.old, new=move.new)
    if not ours:
        ended = _unlocked(repository, user, move, changes)
        if ended is not None:
            return ended
        checkouts.take_lock(move.checkout, move.token)
    try:
        forward = checkouts.settle(
            repository, user, move.checkout, move.token, trees, changes, publish=bool(move.branch)
        )
    except CommandFailed:  # git cannot use this index: see `_back`
        forward = False
    if forward:
        _clear(move)
        return RecoveredSide.DONE
    _back(repository, user, move, changes, reason=reason)
    _clear(move)
    return RecoveredSide.UNDONE


def side_of_branch(repository: Repository, move: Move) -> RecoveredSide:
    """Tell whether a move that was cut off has moved its branch. Later commits may be on top.

    Removes ref locks that a killed git of the move left. Reads no file of a checkout.
    """
    _sweep_ref_locks(repository, move)
    at = repository.branch(move.branch)
    if at is None or at == move.old:
        return RecoveredSide.UNDONE
    moved = at == move.new or repository.is_ancestor(move.new, at)
    return RecoveredSide.DONE if moved else RecoveredSide.UNDONE


def _refuse_rebase_of(git_dir: Path, path: Path, branch: str) -> None:
    for name in ("rebase-merge", "rebase-apply"):
        head = read_small(git_dir / name / "head-name", 4096) or b""
        if head.strip() == f"refs/heads/{branch}".encode():
            raise CheckoutBusy(
                f"branch {branch!r} is being rebased in {str(path)!r}",
                hint="finish the rebase first; nothing was changed",
            )


def _unlocked(
    repository: Repository, user: UserSettings, move: Move, changes: Sequence[Change]
) -> RecoveredSide | None:
    """Return how a move ended whose index lock is gone.

    Usually it was complete or, for files only, had not begun. None means that the branch moved and
    the checkout did not: somebody removed the lock, as git's own error message advises.
    """
    assert move.checkout is not None
    checkouts.discard_index(move.checkout, move.token)
    if move.branch:
        untouched = checkouts.is_untouched(repository, user, move.checkout, move.token, changes)
        return None if untouched else RecoveredSide.DONE
    written = checkouts.stands_at(repository, user, move.checkout, move.token, changes)
    return RecoveredSide.DONE if written else RecoveredSide.UNDONE


def _back(
    repository: Repository,
    user: UserSettings,
    move: Move,
    changes: Sequence[Change],
    *,
    reason: str,
) -> None:
    """Restore the files, then the branch, to `move.old`. The caller holds the lock.

    Raises HalfMoved, and keeps the lock, if git cannot use the index.
    """
    assert move.checkout is not None
    trees = Trees(old=move.new, new=move.old)
    back = [
        c._replace(old_mode=c.new_mode, new_mode=c.old_mode, old_sha=c.new_sha, new_sha=c.old_sha)
        for c in changes
    ]
    try:
        checkouts.settle(
            repository,
            user,
            move.checkout,
            move.token,
            trees,
            back,
            publish=bool(move.branch),
            whatever=True,
        )
    except CommandFailed as error:
        # For example, the index has unresolved conflicts. If no file was changed yet, there is
        # nothing
        # to restore: the index is still the person's own, because it is replaced only at the end.
        checkouts.discard_index(move.checkout, move.token)
        if not checkouts.stands_at(repository, user, move.checkout, move.token, back):
            raise _half_moved(move.checkout, error) from error
    if move.branch:
        swap(repository, move.reversed(move.token), reason=f"undo: {reason}")


def _half_moved(place: CheckoutPlace, error: CommandFailed) -> HalfMoved:
    said = "; ".join(said_by(error.stderr)) or "git did not say why"
    return HalfMoved(
        f"the files in {str(place.root)!r} were changed in part, and git can bring them neither "
        f"forward nor back: {said}",
        hint="see to that (free space, permissions, conflicts to resolve), then `siding doctor` "
        f"brings the branch and the files to one side; until then {place.git_dir / 'index.lock'} "
        "keeps other gits away",
    )


def _clear(move: Move) -> None:
    assert move.checkout is not None
    checkouts.discard_index(move.checkout, move.token)
    checkouts.release_dead_lock(move.checkout, move.token)


def _sweep_ref_locks(repository: Repository, move: Move) -> None:
    """Remove locks of the branch and of HEAD that a killed git of ours left.

    Our locks contain one of the move's commit ids, or the beginning of one.
    """
    if not move.branch:
        return
    common = repository.paths.common_dir
    git_dir = move.checkout.git_dir if move.checkout else common
    paths = [common / f"refs/heads/{move.branch}.lock", git_dir / "HEAD.lock"]
    sweep_locks(paths, [move.new, move.old])


def sweep_locks(paths: Sequence[Path], written: Sequence[str]) -> None:
    """Remove locks of refs that hold one of the texts that we wrote, or the beginning of one.

    A lock of a git that is alive is gone, or another file, after `_LIVE_S` seconds; such a lock is
    left alone.
    """
    before = {path: found for path in paths if (found := identity(os.fspath(path))) is not None}
    if not before:
        return
    time.sleep(_LIVE_S)
    for path, found in before.items():
        data = read_small(path, 4096)
        said = "" if data is None else data.strip().decode("utf-8", "surrogateescape")
        if data is None or not any(text.startswith(said) for text in written if text):
            continue  # whole or cut short, it would begin one of ours
        if identity(os.fspath(path)) == found:
            path.unlink(missing_ok=True)


def _flush_ref(repository: Repository, name: str) -> None:
    """Flush the directories above a ref, up to the git directory: git flushes only the ref's
    file."""
    if repository.paths.ref_format != "files":
        return
    path = (repository.paths.common_dir / name).parent
    while path != repository.paths.common_dir and path.is_dir():
        flush_dir(path)
        path = path.parent
