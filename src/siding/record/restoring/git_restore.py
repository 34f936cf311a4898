"""Carry out a `GitRestoration`: refs first, then the caller's files, then the index.

git's lock of the index is held all the while, so that no other git command works in the workspace.
If this process dies, `record/unfinished/moves.py` removes what it left; what it did so far
is what is recorded next.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from siding.ground.files.durable import flush_dir, flush_file
from siding.ground.git.command import Place
from siding.ground.git.errors import said_by
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.files.small_files import plan_small_files, replace_small_files
from siding.record.moving.checkout import (
    copy_index,
    discard_index,
    git_place,
    put_in_place,
    take_lock,
)
from siding.record.moving.intended import add_intended
from siding.record.moving.model import CheckoutPlace, Move
from siding.record.moving.move import swap
from siding.record.moving.sparse import apply_rules, is_sparse
from siding.record.restoring.git_plan import GitRestoration
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.snapshots.git_details import (
    FLAGS,
    NOTHING,
    IndexEntry,
    commits_among,
    commits_named_in,
)
from siding.record.snapshots.git_look import LARGEST_FILE
from siding.record.snapshots.store import SnapshotStore
from siding.record.worktrees.keeping import give_objects


class GitWork(NamedTuple):
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
def restoring_git(
    work: GitWork, plan: GitRestoration, is_same: Callable[[], bool]
) -> Iterator[None]:
    """Move HEAD and the task's branch; after the block, set the index and git's small files.

    `is_same` is asked under the lock whether the workspace still is in the state `plan.now`.
    """
    lock = take_lock(work.place, work.token)
    try:
        if not is_same():
            raise Refusal(Reason.GIT_CHANGING)
        present, wanted = plan.present.files_outside, plan.wanted.files_outside
        small_files = plan_small_files(work.store, present, wanted)
        give_what_is_named(work.repository, work.store, plan)
        _move_refs(work, plan)
        # From here on something is changed, and no error of `RestoreAct.unchanged` is raised,
        # but for files that could not be moved and were exchanged back.
        try:
            yield
        except Refusal:
            _move_refs(work, _reversed(plan))
            raise
        if plan.changes_index:
            _set_index(work, plan)
        replace_small_files(work.place.git_dir, small_files)
    finally:
        discard_index(work.place, work.token)
        lock.release()


def _reversed(plan: GitRestoration) -> GitRestoration:
    """Return how HEAD and the branch go back to where they were."""
    tip = None if plan.tip is None else plan.now.tip
    now = plan.then._replace(branch=plan.branch, tip=plan.tip or plan.now.tip)
    return plan._replace(now=now, then=plan.now, tip=tip, branch=plan.now.branch)


def _move_refs(work: GitWork, plan: GitRestoration) -> None:
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
        raise Refusal(Reason.HEAD_HELD, root=str(work.place.root), said=said)
    head_file = work.place.git_dir / "HEAD"
    if head_file.is_file():  # `git symbolic-ref` does not flush it
        flush_file(head_file)
        flush_dir(work.place.git_dir)


def _set_index(work: GitWork, plan: GitRestoration) -> None:
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


def _index_info(entries: Sequence[IndexEntry], work: GitWork) -> bytes:
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


def _set_flags(work: GitWork, where: Place, entries: Sequence[IndexEntry], *, off: bool) -> None:
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


def _keep_off(work: GitWork, where: Place, paths: Sequence[bytes]) -> None:
    """Mark paths that are not on the disk any more; git's rules leave out what it wrote itself."""
    if not paths:
        return
    there = set(work.repository.git.attempt(where, ["ls-files", "-z"]).stdout.split(b"\0"))
    off = b"".join(path + b"\0" for path in paths if path in there)
    _git(work, where, ["update-index", "--skip-worktree", "-z", "--stdin"], off)


def _git(work: GitWork, where: Place, words: Sequence[str], stdin: bytes = b"") -> None:
    work.repository.git.run(
        where,
        words,
        doing="bringing the index back",
        stdin=stdin,
        keep_fds=work.keep_fds,
    )


def give_what_is_named(repository: Repository, store: SnapshotStore, plan: GitRestoration) -> None:
    """Give the repository what HEAD, the task's branch, the index and git's small files need.

    Raises SnapshotDamaged if a part of it is nowhere any more. Refs are not changed.
    """
    give_objects(repository, store, sorted(set(_named(store, plan))))


def _named(store: SnapshotStore, plan: GitRestoration) -> Iterator[Sha]:
    """Yield what the repository must have before a ref, the index or a small file names it."""
    for commit in (plan.then.head, plan.tip):
        if commit is not None and commit not in (plan.now.head, plan.now.tip):
            yield commit
    yield from plan.wanted.staged
    for sha in plan.wanted.files.values():
        if sha not in plan.present.files.values():
            words = commits_named_in(store.read_blob(sha, LARGEST_FILE) or b"")
            yield from commits_among(store, words) if words else ()
