"""Read the git state that a snapshot of a task stands for."""

from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.git_details import GitDetails, parse
from siding.record.snapshots.git_state import GitState, state_of
from siding.record.snapshots.store import SnapshotStore


def recorded_state(store: SnapshotStore, task_id: TaskId, branch: str, snapshot: Sha) -> GitState:
    """Return the git state of a snapshot of a task; raises SnapshotDamaged if it is lost.

    `branch` is the task's.
    """
    return state_of(store.read_commit(snapshot), base=store.base(task_id), branch=branch)


def details_of(store: SnapshotStore, state: GitState) -> GitDetails:
    """Return the details of a state; raise SnapshotDamaged if they cannot be read."""
    if state.details is None:
        return GitDetails()
    found = parse(store.read_commit(state.details).message)
    if found is None:
        raise SnapshotDamaged(f"what is staged in a snapshot cannot be read: {state.details}")
    return found
