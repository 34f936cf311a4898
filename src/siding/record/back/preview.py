"""Work out what going to another state would do, without a lock and without a trace."""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.record.back.git_part import plan_git_part, state_now
from siding.record.back.survey import Destination, Here, RestoreRequest, Survey, survey
from siding.record.place.project import Project
from siding.record.recording.named_paths import refuse_unknown
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.tasks.registry import Workspace


@contextmanager
def previewed(
    project: Project, workspace: Workspace, destination: Destination, how: RestoreRequest
) -> Iterator[Survey]:
    """Yield what would be done; its trees can be read until the block ends.

    Raises NotFound if a path of `how` is in neither state.
    """
    snapshots = TaskSnapshots(project, workspace)
    with snapshots.look() as found:
        refuse_unknown(found.store, (destination.snapshot, found.tree), how.paths)
        here = Here(found.store, snapshots.root, found.tree, found.coverage, found.modes)
        surveyed = survey(project, workspace.task_id, here, destination, how)
        tip = snapshots.tip()
        if how.takes_all and tip is not None and workspace.git_dir:
            now = state_now(project, workspace, tip)
            git = plan_git_part(project, workspace, now, destination.snapshot)
            surveyed = surveyed._replace(git=git)
        yield surveyed
