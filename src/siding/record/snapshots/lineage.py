"""List the snapshots of a task in order."""

from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.store import SnapshotStore


def lineage(store: SnapshotStore, task_id: TaskId) -> list[Sha]:
    """Return the task's snapshots, newest first; the base commit itself is not one of them."""
    tip = store.tip(task_id)
    if tip is None:
        return []
    output = store.git.run(
        store.place(),
        ["rev-list", "--first-parent", tip, "--not", store.base(task_id)],
        doing="listing the snapshots of the task",
    )
    return [Sha(line) for line in output.decode("ascii").split()]


def base_snapshot(store: SnapshotStore, task_id: TaskId) -> Sha | None:
    """Return the snapshot that a task's change is counted from; None when it has no snapshot.

    It is the newest one that was taken of a workspace as it was made: `base base`, where a filter
    or line endings changed bytes at the checkout, else `base`, the commit itself, the oldest one.
    """
    bases = base_snapshots(store, task_id)
    return bases[0] if bases else None


def base_snapshots(store: SnapshotStore, task_id: TaskId) -> list[Sha]:
    """Return the snapshots that were taken of a workspace as it was made, newest first."""
    return [sha for sha, said in _subjects(store, task_id) if said in ("base", "base base")]


def step_snapshots(store: SnapshotStore, task_id: TaskId) -> list[tuple[Sha, int]]:
    """Return the snapshots that were taken for a step, newest first, with the step's number."""
    found = []
    for sha, said in _subjects(store, task_id):
        number = said.rpartition(" ")[2]
        if number.isascii() and number.isdigit():
            found.append((sha, int(number)))
    return found


def _subjects(store: SnapshotStore, task_id: TaskId) -> list[tuple[Sha, str]]:
    """Return the task's snapshots, newest first, with the first lines of their messages."""
    tip = store.tip(task_id)
    if tip is None:
        return []
    output = store.git.run(
        store.place(),
        ["log", "--first-parent", "--format=%H %s", tip, "--not", store.base(task_id), "--"],
        doing="listing the snapshots of the task",
    )
    lines = [line.partition(" ") for line in output.decode("utf-8", "replace").splitlines()]
    return [(Sha(sha), said) for sha, _, said in lines]
