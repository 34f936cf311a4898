"""The directories that a person changes into: a task's workspace, or their own checkout."""

from pathlib import Path

from siding.record.place.project import Project, require_project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.place.trash import InTrash
from siding.record.place.wiring import App


def workspace_path(project: Project, named: str | None) -> Path:
    """Return the directory of a task's workspace; raise NoWorkspace if it does not exist."""
    return Path(require_workspace(project, select(project, named)).path)


def main_path(app: App) -> Path:
    """Return the repository's main checkout; the repository itself if it is bare.

    This works even if the working directory is a workspace that was moved to the trash.
    """
    try:
        return require_project(app).paths.root
    except InTrash as gone:
        return gone.root
