"""The pool: worktrees that wait for the next fork or view.

One is taken from the pool, or made if none waits, and brought to the state that is wanted by
writing what differs. While that is done its lock is held and its books name the new owner: if this
process dies, the next sweep finds a worktree whose owner does not have it, and throws it away.

A task's part of the snapshot store holds caches of its worktree (the private index, what was seen
of the directories, the permissions), which are worth as much as a look at every file. While a
worktree of the pool waits, they lie in ``snapshots.git/slots/<worktree>``. What belongs to the task
(its base commit, the anchor of its ledger, its ref) stays with the task.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from siding.forks.state import Held
from siding.forks.worktree_move import PoolWorktree, move
from siding.ground.errors import SidingError
from siding.ground.files.durable import flush_dir, make_dirs, move_aside, write_and_rename
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.discovery import names_record
from siding.ground.git.errors import GitError
from siding.ground.git.repository import sparse_rules
from siding.ground.git.roots import WorktreeRoot, check_root, recorded_root
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.place.locks import holding_git
from siding.record.place.project import Project
from siding.record.place.take_over import base_seed
from siding.record.place.trash import fresh_trash
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.seeding import add_task
from siding.record.snapshots.store import SnapshotStore, remove_tree
from siding.record.snapshots.store_upkeep import create_store, remove_task
from siding.record.tasks.registry import Workspace
from siding.record.tasks.slots import Slot, SlotBooks, new_slot_name
from siding.record.tasks.task import WorkspaceState
from siding.record.worktrees.linked import fill_detached, register_detached
from siding.record.worktrees.registration import detach_worktree, is_registered

_BETWEEN_TWO = 16  # as many may wait until the sweep that ends a group
_OF_THE_WORKTREE = ("index", "seen", "modes", "sparse", "commondir", "excludes")


class Wanted(NamedTuple):
    """What a worktree is wanted for: the owner's id, the state, and the commit it counts from.

    It is to be as sparse as the worktree whose git directory is `like`.
    """

    owner: TaskId
    held: Held
    base: Sha
    like: Path


class Taken(NamedTuple):
    """A worktree of the pool that is in the wanted state, and belongs to its owner."""

    slot: Slot
    path: Path
    git_dir: Path


@contextmanager
def taken(project: Project, wanted: Wanted) -> Iterator[Taken]:
    """Yield a worktree in the wanted state; the block makes the owner have it.

    The worktree's lock is held until the block ends. If that or the block fails, the worktree is
    thrown away. Raises SnapshotDamaged if the state is not whole.
    """
    books = SlotBooks(project.layout.forks)
    books.prepare()
    create_store(project.snapshots)
    slot, lock = _waiting(project, books, wanted)
    if lock is None:
        name = new_slot_name(project.app.random_bytes)
        lock = _locked(project, books, name)
        slot = Slot(name=name, git_dir="", device=0, inode=0, base=wanted.base, owner=wanted.owner)
    assert slot is not None
    try:
        with _or_thrown_away(project, books, slot.name, wanted.owner):
            if not slot.git_dir:
                slot = _made(project, books, slot, wanted)
            else:
                _lent(project, slot, wanted)
            yield _moved(project, slot, wanted)
    finally:
        lock.release()


def _waiting(
    project: Project, books: SlotBooks, wanted: Wanted
) -> tuple[Slot | None, FileLock | None]:
    """Return the nearest worktree that waits, entered as the owner's and locked; else None."""

    def distance(slot: Slot) -> tuple[bool, bool, bool]:
        held = wanted.held
        return (slot.snapshot != held.snapshot, slot.head != held.head, slot.base != wanted.base)

    rules = sparse_rules(project.paths, wanted.like)
    for candidate in sorted(books.free(), key=distance):
        if sparse_rules(project.paths, Path(candidate.git_dir)) != rules:
            continue  # it has other files
        lock = books.lock(candidate.name)
        try:
            lock.acquire(timeout_s=0, holder=_holder(project, wanted.owner))
        except (LockBusy, OSError):
            continue
        slot = books.is_free(candidate.name)
        if slot is not None and slot.snapshot and _is_there(project, slot):
            slot = slot._replace(owner=wanted.owner)
            books.use(slot)
            return slot, lock
        if slot is not None:
            throw_away(project, books, slot.name)
        lock.release()
    return None, None


def _is_there(project: Project, slot: Slot) -> bool:
    """Tell whether a worktree is where and what the books say."""
    path = project.layout.forks.workspace(slot.name)
    try:
        check_root(_root_of(path, slot))
    except GitError:
        return False
    git_dir = Path(slot.git_dir)
    return (git_dir / "HEAD").is_file() and names_record(path, git_dir)


def _root_of(path: Path, slot: Slot) -> WorktreeRoot:
    return WorktreeRoot(path, slot.device, slot.inode, Path(slot.git_dir))


def _locked(project: Project, books: SlotBooks, name: str) -> FileLock:
    return books.lock(name).acquire(timeout_s=None, holder=_holder(project, name))


def _holder(project: Project, what: str) -> Holder:
    return Holder(pid=project.app.pid, since=project.app.now(), what=f"a worktree for {what}")


@contextmanager
def _or_thrown_away(project: Project, books: SlotBooks, name: str, owner: TaskId) -> Iterator[None]:
    try:
        yield
    except BaseException:
        throw_away(project, books, name, owner=owner)
        raise


def _made(project: Project, books: SlotBooks, slot: Slot, wanted: Wanted) -> Slot:
    """Make a worktree with a checkout of a commit, and record the state that it is in then."""
    repository, store = project.repository, project.snapshots
    path = project.layout.forks.workspace(slot.name)
    books.use(slot)
    project.app.tell("checking files out for a fork")
    try:
        with holding_git(project, "making a worktree for a fork"):
            git_dir = register_detached(repository, path, wanted.base, like=wanted.like)
        user = project.user_settings
        fill_detached(repository, path, git_dir, user=user, workers=os.cpu_count() or 2)
        index = None if user.converts else git_dir / "index"
        seed = base_seed(project, wanted.owner, wanted.base, path, git_dir, fresh_index=index)
        add_task(store, seed)
        root = recorded_root(path)
        entry = _entry(project, wanted, slot.name, root, git_dir)
        found = TaskSnapshots(project, entry).capture(step="base", kind="base")
    finally:
        project.app.tell("")
    made = slot._replace(
        git_dir=str(git_dir),
        device=root.device,
        inode=root.inode,
        snapshot=found.snapshot,
        head=wanted.base,
    )
    books.use(made)
    return made


def _lent(project: Project, slot: Slot, wanted: Wanted) -> None:
    """Give the owner the part of the snapshot store that goes with a worktree."""
    excludes = project.user_settings.excludes
    store = project.snapshots
    lend(store, slot.name, wanted.owner, base=wanted.base, excludes=excludes)


def _moved(project: Project, slot: Slot, wanted: Wanted) -> Taken:
    path, git_dir = project.layout.forks.workspace(slot.name), Path(slot.git_dir)
    held = Held(slot.snapshot, slot.head, Sha(slot.details) if slot.details else None)
    tree = PoolWorktree(
        repository=project.repository,
        store=project.snapshots,
        task_id=wanted.owner,
        root=_root_of(path, slot),
        git_dir=git_dir,
        aside=project.layout.root / fresh_trash(project.app, wanted.owner) / "displaced",
        token=wanted.owner,
    )
    move(tree, held, wanted.held)
    with suppress(OSError):
        tree.aside.parent.rmdir()  # unless something was kept in it
    at = wanted.held
    now = slot._replace(
        snapshot=at.snapshot, head=at.head, details=at.details or "", base=wanted.base
    )
    return Taken(slot=now, path=path, git_dir=git_dir)


def _entry(
    project: Project, wanted: Wanted, slot: str, root: WorktreeRoot, git_dir: Path
) -> Workspace:
    """Return the workspace as what records it takes it, before the owner has it."""
    return Workspace(
        name=slot,
        path=str(root.path),
        branch=f"{project.settings.branch_prefix}{wanted.owner}",
        task_id=wanted.owner,
        status=WorkspaceState.ACTIVE,
        created_at=project.app.now(),
        base_commit=wanted.base,
        git_dir=str(git_dir),
        device=root.device,
        inode=root.inode,
    )


def at_once(project: Project) -> int:
    """Return how many worktrees may wait while forks come and go. A sweep leaves fewer."""
    return max(_BETWEEN_TWO, project.settings.forks_pool)


def put_back(project: Project, slot: Slot, owner: TaskId, *, keep: int) -> Path | None:
    """Let a worktree wait for the next owner, in the state that `slot` says; else throw it away.

    Returns None if it waits, else where in the trash it is. The caller has made sure that nothing
    else is in it, and holds its lock. If `keep` of them wait already, it goes into the trash.
    """
    books = SlotBooks(project.layout.forks)
    if not _is_there(project, slot) or len(books.free()) >= keep:
        return throw_away(project, books, slot.name)
    take_back(project.snapshots, owner, slot.name)
    books.put_back(slot)
    if len(books.free()) > keep:
        # Others put theirs back since we counted. Of too many the last one to be entered counts
        # all of them, so too many never stay.
        return throw_away(project, books, slot.name)
    return None


def throw_away(
    project: Project, books: SlotBooks, name: str, *, owner: TaskId | None = None
) -> Path | None:
    """Move a worktree and git's record of it into the trash, and strike it from the books.

    Returns where in the trash it is; None if there was none. With an `owner` that does not have it
    yet, what was made for that one goes, too. Safe to repeat. The caller holds the worktree's lock.
    """
    path = project.layout.forks.workspace(name)
    trash = project.layout.root / fresh_trash(project.app, TaskId(name))
    git_dir = project.paths.common_dir / "worktrees" / name
    is_known = is_registered(project.repository, git_dir)
    was_there = is_known or os.path.lexists(path)
    if is_known:
        make_dirs(trash)
        with holding_git(project, "removing a worktree of the pool"):
            detach_worktree(project.repository, path, git_dir, trash)
    if os.path.lexists(path):
        make_dirs(trash)
        if path.is_dir() and not path.is_symlink():
            # A view is read-only, and of a directory that is moved the kernel writes the "..".
            path.chmod(0o700)
        move_aside(path, trash / "workspace")
    remove_tree(slot_part(project.snapshots, name))
    if owner is not None and not project.task_layout(owner).task_json.exists():
        _forget_owner(project, owner)
    books.forget(name)
    project.layout.forks.lock(name).unlink(missing_ok=True)  # who waits for it looks for it again
    return trash if was_there else None


def _forget_owner(project: Project, owner: TaskId) -> None:
    """Take back what was begun for an owner: nobody was told of it."""
    try:
        remove_task(project.snapshots, owner)
        remove_tree(project.task_layout(owner).root)
    except (SidingError, OSError):
        return  # the next sweep does it


def slot_part(store: SnapshotStore, slot: str) -> Path:
    """Return where the part of a worktree that waits is, whether it is there or not."""
    return store.root / "slots" / refs.check_ref_part(slot)


def lend(store: SnapshotStore, slot: str, task_id: TaskId, *, base: Sha, excludes: bytes) -> None:
    """Make a task's part of the store from that of a worktree. Its ref is the caller's to write."""
    task = store.task(task_id)
    task.path.mkdir(mode=0o700, exist_ok=True)
    flush_dir(task.path.parent)
    _hand_on(slot_part(store, slot), task.path)
    for name, data in (
        ("commondir", b"../..\n"),
        ("HEAD", f"ref: {task.ref}\n".encode()),
        ("base", f"{base}\n".encode()),
        ("excludes", excludes),
    ):
        if read_small(task.path / name) != data:
            write_and_rename(task.path / (name + ".lock"), task.path / name, data)
    flush_dir(task.path)


def take_back(store: SnapshotStore, task_id: TaskId, slot: str) -> None:
    """Take the worktree's caches out of a task's part of the store."""
    part = slot_part(store, slot)
    part.mkdir(mode=0o700, parents=True, exist_ok=True)
    _hand_on(store.task(task_id).path, part)


def _hand_on(source: Path, target: Path) -> None:
    """Rename the caches. A power cut may lose some: each can be made again from the snapshot."""
    for name in _OF_THE_WORKTREE:
        with suppress(FileNotFoundError):
            os.rename(source / name, target / name)
