"""Get the workspace of a task, or an error that says why there is none and what to do.

Another tool may have begun the task, in a home of the same format: then the registry has no entry.
Commands that read show these tasks as they are. The first command that works in one takes it over
(`take_over.py`): it adds its workspace to the registry and makes its first snapshot, from the merge
base of the task's branch and its base. The other tool's files are only added to, never rewritten.
"""

from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.git.roots import recorded_root
from siding.record.place.project import Project
from siding.record.tasks.registry import MOVED_TO, Workspace
from siding.record.tasks.task import Task, TaskState, WorkspaceState


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


def workspace_of(project: Project, task: Task) -> Workspace | None:
    """Return a task's workspace, from the registry or as another tool made it; None if none."""
    entered = project.workspaces.of_task(task.id)
    if entered is not None or not task.branch or task.worktree:
        return entered  # `worktree` is set: Siding made the workspace, so the registry is complete
    path = _place(project, task)
    if path is None:
        return None
    from siding.record.worktrees.listing import git_dir_of

    root = recorded_root(path)
    git_dir = git_dir_of(path)
    return Workspace(
        name=task.branch.rpartition("/")[2],
        path=str(path),
        branch=task.branch,
        task_id=task.id,
        status=WorkspaceState.KEPT if task.status is TaskState.CLOSED else WorkspaceState.ACTIVE,
        created_at=task.created_at,
        base_commit=task.base_commit,
        git_dir=str(git_dir or ""),
        device=root.device,
        inode=root.inode,
    )


def _place(project: Project, task: Task) -> Path | None:
    """Return the path of such a workspace, or None.

    Versions of the other tool give it relative to different directories, so each one is tried.
    """
    written = Path(task.workspace_path) if task.workspace_path else None
    candidates = [project.layout.workspace(task.id)]
    if written is not None:
        candidates += [project.layout.root / written, project.app.home.root / written]
        candidates += [Path(task.repo_root) / written]
    return next((path for path in candidates if (path / ".git").is_file()), None)
