"""Where the work is done: the workspaces, the directories that a person changes into, editors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from siding.ground.process.attached import become
from siding.ground.process.lookup import Program, find_program
from siding.record.place.project import Project, require_project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace, workspace_of
from siding.record.place.trash import InTrash
from siding.record.place.wiring import App
from siding.record.tasks.registry import MOVED_TO, Workspace
from siding.record.tasks.task import WorkspaceState

EDITORS = ("SIDING_EDITOR", "VISUAL", "EDITOR")  # variables; the first one that is set counts
_USUAL = ("code", "cursor", "zed", "subl", "nvim", "vim", "nano", "vi")


def workspace_path(project: Project, named: str | None) -> Path:
    """Return the directory of a task's workspace; raise NoWorkspace if it does not exist."""
    return Path(require_workspace(project, select(project, named)).path)


def workspaces(project: Project) -> list[Workspace]:
    """Return all workspaces of the project, also removed ones, and those that another tool made."""
    entered = project.registry.all()
    known = {each.task_id for each in entered}
    others = (
        workspace_of(project, task) for task in project.tasks.readable() if task.id not in known
    )
    return [*entered, *(each for each in others if each is not None)]


def place_of(workspace: Workspace) -> str:
    """Return where a workspace is, or was; of one that was given away, the task that has it."""
    given = workspace.rest.get(MOVED_TO) if workspace.status is WorkspaceState.REMOVED else None
    return f"(task {given} has it)" if given else workspace.path


def main_path(app: App) -> Path:
    """Return the repository's main checkout; the repository itself if it is bare.

    This works even if the working directory is a workspace that was moved to the trash.
    """
    try:
        return require_project(app).paths.root
    except InTrash as gone:
        return gone.root


def find_editor(env: Mapping[str, str]) -> str | None:
    """Return the first well-known editor that is installed; None if there is none."""
    for name in _USUAL:
        if isinstance(find_program([name], env, Path("/")), Program):
            return name
    return None


def open_in(command: Sequence[str], place: Path, *, env: Mapping[str, str]) -> NoReturn:
    """Replace this process by the editor, opening the directory `place`; raise CannotStart."""
    become([*command, "."], env={**env, "PWD": str(place)}, cwd=place)
