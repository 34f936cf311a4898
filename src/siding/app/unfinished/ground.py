"""Where an act that was cut off was at work."""

from typing import NamedTuple

from siding.app.place.project import Project
from siding.storage.layout import TaskLayout
from siding.tasks.registry import Workspace


class Ground(NamedTuple):
    """Where the act was at work. The task's lock is held, so no process of the act's is alive."""

    project: Project
    layout: TaskLayout
    workspace: Workspace
