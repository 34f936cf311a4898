"""The project, task and workspace of an act that is being recovered."""

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.layout import TaskLayout
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace


class Ground(NamedTuple):
    """The place in which an act was cut off.

    The caller holds the task's lock, so no process of the act is alive.
    """

    project: Project
    layout: TaskLayout
    workspace: Workspace
