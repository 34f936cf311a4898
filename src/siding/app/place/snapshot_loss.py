"""Which steps have no snapshot any more, because the store that held them was lost."""

from siding.tasks.registry import Workspace

LOST = "snapshots_lost"  # in the registry: the last step whose snapshots were lost


def lost_until(workspace: Workspace) -> int:
    """Return the number of the last step whose snapshots are known to be lost; 0 for none."""
    number = workspace.rest.get(LOST)
    return number if isinstance(number, int) else 0
