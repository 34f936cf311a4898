"""Get the workspace of a task, or an error that says why there is none and what to do."""

from pathlib import Path

from siding.ground.errors import SidingError
from siding.record.place.old_home import workspace_of
from siding.record.place.project import Project
from siding.record.tasks.registry import MOVED_TO, Workspace
from siding.record.tasks.states import TaskState, WorkspaceState
from siding.record.tasks.task import Task


class NoWorkspace(SidingError):
    """The task has no workspace in which a command could run."""

    code = "no_workspace"


def require_workspace(project: Project, task: Task) -> Workspace:
    """Return the task's workspace; raise NoWorkspace if its directory does not exist."""
    workspace = known_workspace(project, task)
    if workspace.status is WorkspaceState.ABSENT:
        raise _none_yet(task)
    if workspace.status is WorkspaceState.REMOVED:
        owner = workspace.rest.get(MOVED_TO)
        if owner:
            raise NoWorkspace(
                f"the workspace of task {task.name!r} was given to task {owner}",
                hint=f"`siding task reopen {task.id}` makes a new one from its last state",
            )
        closed = "is closed, and its" if task.status is TaskState.CLOSED else "is open, but its"
        raise NoWorkspace(
            f"task {task.name!r} {closed} workspace was removed",
            hint=f"`siding task reopen {task.id}` brings it back",
        )
    if not Path(workspace.path).is_dir():
        raise NoWorkspace(
            f"the workspace of task {task.name!r} is gone: {workspace.path!r}",
            hint="`siding doctor` says what can be brought back",
        )
    return workspace


def known_workspace(project: Project, task: Task) -> Workspace:
    """Return the entry of the task's workspace, even if it was removed.

    Raises NoWorkspace if the task never had one.
    """
    workspace = workspace_of(project, task)
    if workspace is None:
        raise _none_yet(task)
    return workspace


def _none_yet(task: Task) -> NoWorkspace:
    return NoWorkspace(
        f"task {task.name!r} has no workspace yet",
        hint=f"`siding worktree add {task.id}` gives it one",
    )
