"""Recognise a working directory in the trash.

A workspace that is removed is renamed, so a shell in it is in the trash afterwards.
"""

import os
from pathlib import Path

from siding.app.place.project_places import place_of
from siding.app.place.wiring import App
from siding.errors import SidingError
from siding.storage.layout import ProjectLayout


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
