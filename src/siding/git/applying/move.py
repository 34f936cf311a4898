"""Moving a branch and the checkout that has it, together, beside the person's own work.

The branch moves by compare-and-swap; the checkout follows by a two-tree merge that touches nothing
but the paths that differ. Between the two the person must not come in between, and a crash must not
leave one without the other:

- git's own ``index.lock`` of that checkout is taken first, by us, with a token in it: no git of the
  person's can change the index meanwhile, and whoever finds the lock later knows whose it is;
- the new index is made beside the old one and renamed into place at the end;
- what is to happen (`Move`) was written down before by the caller, so that `recover` can bring the
  branch and the checkout to the same side after a crash at any point.

Never: a stash, a switched branch, a conflict marker in the person's files, an ignored or untracked
file written over.
"""

import os
import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

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
from siding.git.snapshots.patches import Change, DiffStat, parse_raw, parse_stat
from siding.git.snapshots.scan import identity
from siding.git.worktrees.linked import worktrees
from siding.ids import Sha

_LIVE_S = 0.3


class Overlapping(GitError):
    """The person's uncommitted or untracked files are where the change has to go."""

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
    """The branch is not where it was when the apply was made ready."""

    code = "target_moved"


class CheckoutBusy(GitError):
    """git is in the middle of something in the checkout of the branch."""

    code = "checkout_busy"


class HalfMoved(GitError):
    """A checkout was changed in part, and git can bring it neither forward nor back now."""

    code = "half_moved"


class RefusedMove(GitError):
    """git, or a hook of the person's, did not let it happen; nothing was changed."""

    code = "refused"


UNCHANGED = (Overlapping, TargetMoved, CheckoutBusy, RefusedMove, IndexLocked)
"""Failures after which everything is as it was; any other one is for `recover`."""


class Overlaps(NamedTuple):
    """Paths of the person's that stand in the way: changed ones, and ones git knows nothing of."""

    changed: tuple[bytes, ...]
    unknown: tuple[bytes, ...]

    @property
    def all(self) -> tuple[bytes, ...]:
        return tuple(sorted({*self.changed, *self.unknown}))


class Move(NamedTuple):
    """What changes together. ``branch`` is empty when only files are written (``--mode patch``).

    ``old`` and ``new`` are commits, or trees without a branch. ``checkout`` is where the branch is
    checked out, None when it is nowhere. ``token`` is this move's own.
    """

    branch: str
    old: Sha
    new: Sha
    checkout: CheckoutPlace | None
    token: str

    def as_record(self) -> dict[str, Any]:
        """Return what `move_from` reads back."""
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
        """Return the move back."""
        return self._replace(old=self.new, new=self.old, token=token)


class RecoveredSide(StrEnum):
    """Which side a move that was cut off was brought to."""

    DONE = "done"
    UNDONE = "undone"


def move_from(record: Mapping[str, Any]) -> Move:
    """Return the move in a record."""
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
    """Return where a branch is checked out, None when nowhere; raises CheckoutBusy.

    A worktree whose directory is gone does not count.
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
    """Raise CheckoutBusy when a merge, a rebase or the like is under way in a checkout, or when
    its index has conflicts that nobody has resolved yet (`git stash pop` leaves some)."""
    found = unfinished_in(repository.git, repository.paths.common_dir, place)
    if found is not None:
        raise CheckoutBusy(
            f"{found.what} in {str(place.root)!r}", hint=f"{found.finish}; nothing was changed"
        )


def changed_paths(repository: Repository, place: Place, old: Sha, new: Sha) -> list[Change]:
    """Return what differs between two commits or trees, path by path."""
    arguments = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new]
    return parse_raw(repository.git.run(place, arguments, doing="comparing with the target"))


def counted_paths(bench: Bench, old: Sha, new: Sha) -> tuple[list[Change], DiffStat]:
    """Return what differs between two trees, path by path, and by how many lines."""
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
    """Return which of the person's files in a checkout are where `changes` have to go.

    Looks without writing. ``index`` may be a copy of the index, which is then refreshed.
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
    """Raise Overlapping when something of the person's is in the way."""
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

    ``hooks`` are settings that let the person's hooks run (`core.hooksPath=...`). Raises
    Overlapping, TargetMoved, CheckoutBusy or Refused, with nothing changed. After any other
    failure, and after a crash, `recover` brings both to one side.
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
    # Any other failure leaves the lock as a crash would: `recover` knows what to do with it.
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
    """Return a copy of the index to work on, when nothing in the checkout is in the way.

    The lock is held: from here on no git of the person's begins anything there.
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
    *,
    reason: str,
    hooks: Sequence[str] = (),
    keep_fds: Sequence[int] = (),
) -> None:
    """Take files that were written without a commit back; raises Overlapping when one of them is
    no longer as it was written, or was staged or committed since."""
    del reason, hooks, keep_fds
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
    """Return the remote branches, as this repository knows them, that have the commit."""
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
    """Move the branch if it is still where it was; raises TargetMoved or Refused."""
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
    """Bring the branch and the checkout of a move that was cut off to the same side.

    Forward if it had begun and the person's files allow it, else back. Nobody runs the move any
    more: the caller holds the lock that its git processes held. Safe to repeat.
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
    except CommandFailed:  # git can do nothing with this index; perhaps nothing has to be done
        forward = False
    if forward:
        _clear(move)
        return RecoveredSide.DONE
    _back(repository, user, move, changes, reason=reason)
    _clear(move)
    return RecoveredSide.UNDONE


def side_of_branch(repository: Repository, move: Move) -> RecoveredSide:
    """Tell whether the branch of a move that was cut off has moved, and perhaps gone on since.

    Sweeps the locks that a git of the move's left; looks at no file of a checkout.
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
    """Tell how a move whose lock is gone ended.

    Usually it had come to its end, or (files only) had not begun. None: the branch moved and the
    checkout did not, so somebody removed the lock, as git advises to.
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
    """Put the files, then the branch, to where they were; the lock is held.

    Raises HalfMoved, the lock still held, when git can do nothing with the index.
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
        # An index with unresolved conflicts, for one. If no file was changed yet there is nothing
        # to put back, and the index is the person's own: it is only ever replaced at the end.
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
    """Remove the locks of the branch and of HEAD that a killed git of ours may have left.

    They hold one of our commits, or the beginning of one. One of a git of the person's that is
    alive would be gone, or another file, a moment later.
    """
    if not move.branch:
        return
    common = repository.paths.common_dir
    git_dir = move.checkout.git_dir if move.checkout else common
    paths = [common / f"refs/heads/{move.branch}.lock", git_dir / "HEAD.lock"]
    before = {path: found for path in paths if (found := identity(os.fspath(path))) is not None}
    if not before:
        return
    time.sleep(_LIVE_S)
    for path, found in before.items():
        data = read_small(path, 200)
        said = "" if data is None else data.strip().decode("ascii", "replace")
        written = (move.new, move.old)
        if data is None or not any(sha.startswith(said) for sha in written if sha):
            continue  # whole or cut short, it would begin one of our commits
        if identity(os.fspath(path)) == found:
            path.unlink(missing_ok=True)


def _flush_ref(repository: Repository, name: str) -> None:
    """Flush the names above the branch, up to the git directory."""
    if repository.paths.ref_format != "files":
        return
    path = (repository.paths.common_dir / name).parent
    while path != repository.paths.common_dir and path.is_dir():
        flush_dir(path)
        path = path.parent
