"""Carry out a `GitReturn`: refs first, then the caller's files, then the index.

git's lock of the index is held all the while, so that no other git command works in the workspace.
If this process dies, `sweep` removes what it left; what it did so far is what is recorded next.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from siding.ground.files.durable import flush_dir, flush_file
from siding.ground.git.command import Place
from siding.ground.git.errors import GitError, SnapshotDamaged, SnapshotFailed, said_by
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.checkout import (
    CheckoutPlace,
    copy_index,
    discard_index,
    git_place,
    put_in_place,
    release_dead_lock,
    take_lock,
)
from siding.record.moving.move import UNCHANGED, CheckoutBusy, Move, swap
from siding.record.moving.ref_locks import sweep_locks
from siding.record.moving.sparse import apply_rules, is_sparse
from siding.record.restoring.immovable import CannotMove
from siding.record.restoring.small_files import TEMPORARY
from siding.record.returning.intended import add_intended, discard_intended
from siding.record.returning.objects import give_what_is_named
from siding.record.returning.plan import GitReturn
from siding.record.returning.small_files import plan_small_files, replace_small_files
from siding.record.snapshots.git_details import FLAGS, NOTHING, IndexEntry
from siding.record.snapshots.git_state import GitState
from siding.record.snapshots.store import SnapshotStore


class ChangedMeanwhile(GitError):
    """HEAD, the index or a branch was changed after the state was recorded. Nothing was done."""

    code = "moving"


REFUSED = (*UNCHANGED, ChangedMeanwhile, SnapshotDamaged, SnapshotFailed, CannotMove)
"""If one of these is raised before the block of `returning` runs, nothing was changed.

CannotMove is raised in the block, after the files were exchanged back."""


class Returning(NamedTuple):
    """What carrying out needs: the repositories, the workspace, and what marks our traces.

    `token` marks the lock of the index as ours. `reason` goes into the reflogs.
    """

    repository: Repository
    store: SnapshotStore
    place: CheckoutPlace
    token: str
    reason: str
    keep_fds: Sequence[int] = ()


@contextmanager
def returning(work: Returning, plan: GitReturn, is_same: Callable[[], bool]) -> Iterator[None]:
    """Move HEAD and the task's branch; after the block, set the index and git's small files.

    `is_same` is asked under the lock whether the workspace still is in the state `plan.now`.
    """
    lock = take_lock(work.place, work.token)
    try:
        if not is_same():
            raise ChangedMeanwhile(
                "HEAD or the index of the workspace is being changed by somebody else",
                hint="nothing was done; end what works in there, then try again",
            )
        present, wanted = plan.present.files_outside, plan.wanted.files_outside
        small_files = plan_small_files(work.store, present, wanted)
        give_what_is_named(work.repository, work.store, plan)
        _move_refs(work, plan)
        # From here on something is changed, and no error of `REFUSED` is raised any more, but for
        # files that could not be moved and were exchanged back.
        try:
            yield
        except CannotMove:
            _move_refs(work, _reversed(plan))
            raise
        if plan.changes_index:
            _set_index(work, plan)
        replace_small_files(work.place.git_dir, small_files)
    finally:
        discard_index(work.place, work.token)
        lock.release()


def _reversed(plan: GitReturn) -> GitReturn:
    """Return how HEAD and the branch go back to where they were."""
    tip = None if plan.tip is None else plan.now.tip
    now = plan.then._replace(branch=plan.branch, tip=plan.tip or plan.now.tip)
    return plan._replace(now=now, then=plan.now, tip=tip, branch=plan.now.branch)


def sweep(
    repository: Repository,
    place: CheckoutPlace,
    task_branch: str,
    token: str,
    states: Sequence[GitState],
) -> None:
    """Remove the locks that a killed return with this token left, between these states.

    Safe to repeat. The caller knows that no process of the return is alive.
    """
    if not token or not place.git_dir.is_dir():
        return
    release_dead_lock(place, token)
    discard_index(place, token)
    discard_intended(place.git_dir)
    (place.git_dir / TEMPORARY).unlink(missing_ok=True)
    written: list[str] = [s for state in states for s in (state.head, state.tip) if s]
    written += [f"ref: refs/heads/{state.branch}" for state in states if state.branch]
    branch_lock = repository.paths.common_dir / f"refs/heads/{task_branch}.lock"
    sweep_locks([branch_lock, place.git_dir / "HEAD.lock"], written)


def _move_refs(work: Returning, plan: GitReturn) -> None:
    """Move the task's branch, then HEAD; if HEAD cannot be moved, move the branch back."""
    moved = None
    if plan.tip is not None:
        old = plan.now.tip or Sha("0" * len(plan.tip))
        moved = Move(plan.task_branch, old, plan.tip, work.place, work.token)
        swap(work.repository, moved, reason=work.reason, keep_fds=work.keep_fds)
    head = work.repository.head(work.place.git_dir)
    if (head.branch, head.sha) == (plan.branch, plan.then.head):
        return
    if plan.branch is not None:
        words = ["symbolic-ref", "-m", work.reason, "HEAD", f"refs/heads/{plan.branch}"]
    elif plan.then.head is not None:
        words = ["update-ref", "--no-deref", "-m", work.reason, "HEAD", plan.then.head]
    else:
        return
    done = work.repository.git.attempt(
        Place(
            git_dir=work.place.git_dir,
            common_dir=work.repository.paths.common_dir,
            settings=("core.logAllRefUpdates=always",),
        ),
        words,
        keep_fds=work.keep_fds,
    )
    if done.returncode:
        if moved is not None and plan.now.tip is not None:
            swap(work.repository, moved.reversed(work.token), reason=work.reason)
        said = "; ".join(said_by(done.stderr)) or "git did not say why"
        raise CheckoutBusy(
            f"HEAD of {str(work.place.root)!r} could not be moved: {said}",
            hint="another git may be at work there; try again. Nothing was changed",
        )
    head_file = work.place.git_dir / "HEAD"
    if head_file.is_file():  # `git symbolic-ref` does not flush it
        flush_file(head_file)
        flush_dir(work.place.git_dir)


def _set_index(work: Returning, plan: GitReturn) -> None:
    """Make the index that of HEAD, then give it what it had differently."""
    entries = plan.wanted.entries
    if entries is None:
        (work.place.git_dir / "index").unlink(missing_ok=True)
        flush_dir(work.place.git_dir)
        return
    # A copy of the present one keeps what git knows of files that are the same in both.
    private = copy_index(work.place, work.token)
    # Read now: a file that came back may be one that the repository's configuration includes, and
    # git would run the filters it names.
    user = work.repository.settings_now()
    where = git_place(work.repository, user, work.place, private)
    # They only compare here: one that fails must not end this in the middle.
    lenient = (f"filter.{name}.required=false" for name in sorted(user.trusted_filters))
    where = where._replace(settings=(*where.settings, *lenient))
    # Without `-i` git refuses if a file that it was told to assume unchanged is changed.
    tree = ["-i", "--reset", plan.then.head] if plan.then.head else ["--empty"]
    _git(work, where, ["read-tree", *tree])
    _set_flags(work, where, plan.present.entries or (), off=True)
    listed = [e._replace(mode=NOTHING) if "i" in e.flags else e for e in entries]
    if listed:
        info = _index_info(listed, work)
        _git(work, where, ["update-index", "-z", "--index-info"], info)
    add_intended(work.repository, where, entries, work.keep_fds)
    _set_flags(work, where, entries, off=False)
    if is_sparse(work.repository, where):
        apply_rules(work.repository, where, work.keep_fds)
    _keep_off(work, where, plan.off)
    # So that git knows which files are as in the index: `git merge --abort` refuses without it.
    _git(work, where, ["update-index", "-q", "--unmerged", "--refresh"])
    put_in_place(work.place, private)


def _index_info(entries: Sequence[IndexEntry], work: Returning) -> bytes:
    """Return the entries as `git update-index --index-info` reads them.

    The sides of a conflict are added after the path was removed.
    """
    zeros = "0" * work.repository.paths.hash_size
    conflicting = dict.fromkeys(entry.path for entry in entries if entry.stage)
    lines = [f"0 {zeros}\t".encode("ascii") + path for path in conflicting]
    for entry in entries:
        if entry.mode == NOTHING:
            about = f"0 {zeros}\t"
        else:
            about = f"{entry.mode} {entry.sha} {entry.stage}\t"
        lines.append(about.encode("ascii") + entry.path)
    return b"".join(line + b"\0" for line in lines)


def _set_flags(work: Returning, where: Place, entries: Sequence[IndexEntry], *, off: bool) -> None:
    """Set the flags of these entries, or clear them, of those that the index has now."""
    flagged = [entry for entry in entries if entry.flags]
    if not flagged:
        return
    done = work.repository.git.attempt(where, ["ls-files", "-z"])
    there = set(done.stdout.split(b"\0"))
    for letter, option in FLAGS.items():
        paths = [e.path for e in flagged if letter in e.flags and e.path in there]
        if paths and option != "intent-to-add":
            words = ["update-index", f"--no-{option}" if off else f"--{option}", "-z", "--stdin"]
            _git(work, where, words, b"\0".join(paths) + b"\0")


def _keep_off(work: Returning, where: Place, paths: Sequence[bytes]) -> None:
    """Mark paths that are not on the disk any more; git's rules leave out what it wrote itself."""
    if not paths:
        return
    there = set(work.repository.git.attempt(where, ["ls-files", "-z"]).stdout.split(b"\0"))
    off = b"".join(path + b"\0" for path in paths if path in there)
    _git(work, where, ["update-index", "--skip-worktree", "-z", "--stdin"], off)


def _git(work: Returning, where: Place, words: Sequence[str], stdin: bytes = b"") -> None:
    work.repository.git.run(
        where,
        words,
        doing="bringing the index back",
        stdin=stdin,
        keep_fds=work.keep_fds,
    )
