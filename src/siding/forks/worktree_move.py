"""Take a worktree from one recorded state to another by writing only what differs.

The worktree is one of the pool: nobody works in it, its state is that of a snapshot to the byte,
and nothing is in it that the snapshot does not hold. So nothing has to be asked or moved out of the
way, and a failure on the way costs nothing but the worktree, which is then thrown away.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from siding.forks.state import Held
from siding.ground.git.paths import NOTHING
from siding.ground.git.repository import Repository
from siding.ground.git.roots import WorktreeRoot
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.files.displaced import keep_unrecorded
from siding.record.files.links import with_links
from siding.record.files.plan import Restoration, plan_restoration, with_directories
from siding.record.files.restore import restore
from siding.record.files.staging import staged
from siding.record.moving.model import CheckoutPlace
from siding.record.restoring.git_plan import GitRestoration
from siding.record.restoring.git_restore import GitWork, restoring_git
from siding.record.snapshots.git_details import details_of
from siding.record.snapshots.mode_changes import TreeState, mode_changes, modes_of
from siding.record.snapshots.modes import named_in
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.store import SnapshotStore, remove_tree

_REASON = "siding: fork"


class PoolWorktree(NamedTuple):
    """A worktree of the pool, and the part of the snapshot store with its private index.

    `aside` is a new directory on its file system, for the files that are replaced. `token` marks
    git's locks as ours.
    """

    repository: Repository
    store: SnapshotStore
    task_id: TaskId
    root: WorktreeRoot
    git_dir: Path
    aside: Path
    token: str


def move(tree: PoolWorktree, held: Held, wanted: Held) -> list[bytes]:
    """Take the worktree from `held` to `wanted`: files, permissions, HEAD, both indexes.

    Returns the paths of files that somebody wrote meanwhile; they are kept in `aside`. After any
    exception the worktree is in no known state. Raises SnapshotDamaged if `wanted` is not whole.
    """
    plan, changes = _plan(tree, held, wanted)
    with _git_part(tree, held, wanted):
        kept = _files(tree, plan)
    _private_index(tree, changes)
    return kept


def _plan(tree: PoolWorktree, held: Held, wanted: Held) -> tuple[Restoration, list[Change]]:
    """Return what has to be done to the files, and how the trees differ."""
    store, old, new = tree.store, held.snapshot, wanted.snapshot
    if old == new or _same_files(store, old, new):
        return Restoration((), (), (), ()), []
    changes = diff_trees(store, old, new)
    now, then = modes_of(store, old), modes_of(store, new)
    if now is None or then is None or now.usual != then.usual:
        # What is kept of the permissions is relative to what was usual: it is looked at anew.
        store.task(tree.task_id).modes.unlink(missing_ok=True)
    empty_now, empty_then = (
        () if each is None or each.bare is None else each.bare.empty for each in (now, then)
    )
    plan = plan_restoration(
        changes,
        directories=empty_then,
        mode_changes=mode_changes(
            store,
            TreeState(tree=old, modes=now),
            TreeState(tree=new, modes=then),
            changes=changes,
            empty_before=empty_now,
            empty_after=empty_then,
        ),
        modes=then,
    )
    plan = with_links(store, plan, (now and now.links) or (), new, ())
    bare_now, bare_then = (each and each.bare for each in (now, then))
    return with_directories(tree.root, plan, changes, bare_now, bare_then, ()), changes


def _same_files(store: SnapshotStore, old: Sha, new: Sha) -> bool:
    """Tell whether two snapshots have the same files with the same permissions."""
    one, other = store.read_commit(old), store.read_commit(new)
    return one.tree == other.tree and named_in(one) == named_in(other)


def _files(tree: PoolWorktree, plan: Restoration) -> list[bytes]:
    """Carry the plan out; what was displaced is deleted if it is as the snapshot has it."""
    if not (plan.writes or plan.deletes or plan.chmods or plan.made or plan.removed):
        return []
    # Nothing is flushed, as by git: what a power cut leaves of a file shows as a change, and the
    # snapshot has it.
    with staged(tree.store, tree.root, plan, tree.aside, durable_contents=False) as contents:
        restore(tree.root, plan, contents, durable=False)
    if not tree.aside.is_dir():
        return []
    kept = keep_unrecorded(tree.aside, tree.store.repository.object_format)
    if not kept:
        remove_tree(tree.aside)
    return [each.path for each in kept]


@contextmanager
def _git_part(tree: PoolWorktree, held: Held, wanted: Held) -> Iterator[None]:
    """Move HEAD, let the block move the files, then set git's own index of the worktree."""
    now, then = held.git_state(), wanted.git_state()
    if now == then:
        yield
        return
    store = tree.store
    plan = GitRestoration(
        now=now,
        then=then,
        task_branch="",
        tip=None,
        branch=None,
        present=details_of(store, now),
        wanted=details_of(store, then),
    )
    place = CheckoutPlace(root=tree.root.path, git_dir=tree.git_dir)
    work = GitWork(tree.repository, store, place, tree.token, _REASON)
    with restoring_git(work, plan, lambda: True):
        yield


def _private_index(tree: PoolWorktree, changes: Sequence[Change]) -> None:
    """Enter what differs into the index that the next snapshot is taken with.

    What goes comes first: a directory may take the place of a file.
    """
    if not changes:
        return
    ordered = sorted(changes, key=lambda each: (each.new_mode != NOTHING, each.path))
    zeros = "0" * tree.store.repository.hash_size
    lines = [
        (f"0 {zeros}\t" if c.new_mode == NOTHING else f"{c.new_mode} {c.new_sha}\t").encode("ascii")
        + c.path
        for c in ordered
    ]
    tree.store.git.run(
        tree.store.place(tree.store.task(tree.task_id), locks=True),
        ["update-index", "-z", "--index-info"],
        doing="preparing the index of the fork",
        stdin=b"\0".join(lines) + b"\0",
    )
