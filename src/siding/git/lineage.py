"""The snapshots of a task, as a line."""

from siding.git.store import SnapshotStore
from siding.ids import Sha, TaskId


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
