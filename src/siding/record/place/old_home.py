"""Tasks that another tool began in a home of the same format. They have no entry in the registry.

Commands that read show these tasks as they are. The first command that works in one takes it over:
it adds its workspace to the registry and makes its first snapshot, from the merge base of the
task's branch and its base. The other tool's files are only added to, never rewritten.
"""

from pathlib import Path

from siding.ground.git.roots import recorded_root
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace
from siding.record.tasks.states import TaskState, WorkspaceState
from siding.record.tasks.task import Task


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
