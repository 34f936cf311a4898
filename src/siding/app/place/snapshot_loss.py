"""Find out which steps have lost their snapshots, because the snapshot store was lost."""

from siding.tasks.registry import Workspace

LOST = "snapshots_lost"  # the field in the registry: the number of the last step without snapshots


def lost_until(workspace: Workspace) -> int:
    """Return the number of the last step whose snapshots are known to be lost; 0 for none."""
    number = workspace.rest.get(LOST)
    return number if isinstance(number, int) else 0
