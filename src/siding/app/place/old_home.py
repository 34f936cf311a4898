"""Tasks of a home that the bar tool wrote: they have a workspace and no entry in a registry.

Reading shows them as they are. The first command that works in one takes it over: its workspace is
entered in the registry and its part of the snapshot store is made, from the commit the task's
branch left its base at. Nothing of the home is rewritten for that, only added to.
"""

from pathlib import Path

from siding.app.place.project import Project
from siding.tasks.registry import Workspace
from siding.tasks.states import TaskState, WorkspaceState
from siding.tasks.task import Task


def workspace_of(project: Project, task: Task) -> Workspace | None:
    """Return a task's workspace: the registry's, else the one an old home has for it."""
    entered = project.registry.of_task(task.id)
    if entered is not None or not task.branch or task.worktree:
        return entered  # a task with a worktree is one of ours: its registry answers for it
    path = _place(project, task)
    if path is None:
        return None
    from siding.git.roots import recorded_root
    from siding.git.worktrees.linked import git_dir_of

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
    """Return where an old task's workspace is; the documents disagree about what the path is to."""
    written = Path(task.workspace_path) if task.workspace_path else None
    candidates = [project.layout.workspace(task.id)]
    if written is not None:
        candidates += [project.layout.root / written, project.app.home.root / written]
        candidates += [Path(task.repo_root) / written]
    return next((path for path in candidates if (path / ".git").is_file()), None)
