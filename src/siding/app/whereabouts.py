"""Where a person goes: the workspace of a task, or back to their own checkout."""

import os
from pathlib import Path

from siding.app.old_home import workspace_of
from siding.app.project import Project, require_project
from siding.app.selection import select
from siding.app.trashed_workspace import InTrash
from siding.app.wiring import App
from siding.errors import SidingError


def workspace_path(project: Project, named: str | None) -> Path:
    """Return the directory of a task's workspace; raises SidingError when it is not there."""
    task = select(project, named)
    workspace = workspace_of(project, task)
    if workspace is not None and os.path.isdir(workspace.path):
        return Path(workspace.path)
    if workspace is None:
        raise SidingError(
            f"task {task.name!r} has no workspace yet",
            hint=f"`siding worktree add {task.id}` makes one",
        )
    raise SidingError(
        f"the workspace of task {task.name!r} is not there: {workspace.path!r}",
        hint=f"`siding task reopen {task.id}` brings one back that was closed; "
        "`siding doctor` says what became of any other",
    )


def main_path(app: App) -> Path:
    """Return the repository's own main checkout; the repository itself when it is bare.

    Known as well to whoever stands in a workspace that is in the trash.
    """
    try:
        return require_project(app).paths.root
    except InTrash as gone:
        return gone.root
