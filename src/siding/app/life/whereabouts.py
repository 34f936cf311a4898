"""Where a person goes: the workspace of a task, or back to their own checkout."""

from pathlib import Path

from siding.app.place.project import Project, require_project
from siding.app.place.selection import select
from siding.app.place.task_workspace import require_workspace
from siding.app.place.trashed_workspace import InTrash
from siding.app.place.wiring import App


def workspace_path(project: Project, named: str | None) -> Path:
    """Return the directory of a task's workspace; raises NoWorkspace when it is not there."""
    return Path(require_workspace(project, select(project, named)).path)


def main_path(app: App) -> Path:
    """Return the repository's own main checkout; the repository itself when it is bare.

    Known as well to whoever stands in a workspace that is in the trash.
    """
    try:
        return require_project(app).paths.root
    except InTrash as gone:
        return gone.root
