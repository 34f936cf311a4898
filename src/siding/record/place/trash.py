"""The project's trash. What is removed is renamed and stays there until `siding gc`.

So a shell that stands in a workspace is in the trash when that was removed.
"""

import os
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.project_places import place_of
from siding.record.place.wiring import App


class InTrash(SidingError):
    """The working directory is a workspace in the trash. `root` is its repository."""

    code = "workspace_gone"

    def __init__(self, task_id: str, root: Path) -> None:
        self.root = root
        super().__init__(
            f"you stand in the workspace of task {task_id}, which was closed or removed: this "
            "directory is in the trash now",
            hint=f"cd {root}; `siding task reopen {task_id}` there brings the workspace back",
        )


def in_trash(app: App) -> InTrash | None:
    """Return the error for a working directory in the trash of a project; None for any other."""
    projects = Path(os.path.realpath(app.home.projects_dir))
    here = Path(os.path.realpath(app.cwd))
    if not here.is_relative_to(projects):
        return None
    name, *below = here.relative_to(projects).parts or ("",)
    if len(below) < 3 or below[0] != "trash" or below[2] != "workspace":
        return None
    place = place_of(ProjectLayout(projects / name))
    if place is None or not place.root:
        return None
    return InTrash(below[1].partition("-")[0], Path(place.root))


def fresh_trash(app: App, task_id: TaskId) -> str:
    """Return an unused path, relative to the project: the task's id, the time, random digits."""
    stamp = app.clock.now().strftime("%Y%m%dT%H%M%S")
    return f"trash/{task_id}-{stamp}-{app.random_bytes(3).hex()}"
