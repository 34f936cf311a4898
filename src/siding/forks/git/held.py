"""The recorded state that a worktree is in, and the snapshot with which a fork of it begins."""

from pathlib import Path

from siding.ground.files.durable import flush_dir
from siding.ground.git import objects
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.git_details import GitDetails, details_of
from siding.record.snapshots.git_state import GitState
from siding.record.snapshots.modes import named_in
from siding.record.snapshots.store import SnapshotStore

_REFLOG = Path("logs/HEAD")


class Held(NamedTuple):
    """A snapshot, and where HEAD is in that state: detached.

    `details` is the commit with what the index has differently from HEAD; None if there is nothing.
    """

    snapshot: Sha
    head: Sha
    details: Sha | None = None

    def git_state(self) -> GitState:
        """Return it as snapshots say it. A fork has no branch before it is kept."""
        return GitState(head=self.head, branch=None, tip=None, details=self.details)


def store_details(store: SnapshotStore, state: GitState, *, at: int) -> tuple[Sha | None, bool]:
    """Return the commit with what is staged in a state, as a fork can have it, durably stored.

    The documents of the task and an unfinished git command stay behind. The second value says
    whether there was such a command: then nothing is taken along, as what is staged is a part of
    it. Raises SnapshotDamaged.
    """
    found = details_of(store, state)
    if found.files:
        return None, True
    wanted = GitDetails(entries=found.entries or ())
    if wanted.is_plain:
        return None, False
    if wanted == found:
        return state.details, False
    object_format = store.repository.object_format
    tree = objects.write_object(store.objects, "tree", wanted.tree_body(), object_format)
    commit = objects.Commit(tree=tree, parents=(), message=wanted.text())
    body = objects.commit_body(commit, at=at)
    return objects.write_object(store.objects, "commit", body, object_format), False


def write_base(
    store: SnapshotStore, task_id: TaskId, held: Held, base: Sha, git_dir: Path, *, at: int
) -> Sha:
    """Store the snapshot with which a fork begins: the files and permissions of `held`.

    `base` is the commit that the fork's change is counted from, and its first parent, so that the
    fork's snapshots are a line of their own. Durable; no ref is changed.
    """
    origin = store.read_commit(held.snapshot)
    modes = named_in(origin)
    reflog = _size(git_dir / _REFLOG)
    message = (
        f"base base\n\nTask: {task_id}\nStep: base\nKind: base\nHead: {held.head}\n"
        f"Reflog: {reflog}{held.git_state().trailers()}"
        + (f"\nModes: {modes}" if modes else "")
        + f"\nFork: {held.snapshot}"
    )
    head = held.head if held.head != base else None
    parents = tuple(each for each in (base, head, held.details, modes) if each)
    commit = objects.Commit(tree=origin.tree, parents=parents, message=message)
    body = objects.commit_body(commit, at=at)
    sha = objects.write_object(store.objects, "commit", body, store.repository.object_format)
    flush_dir(store.objects)
    return sha


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
