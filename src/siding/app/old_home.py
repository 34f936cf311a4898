"""Tasks of a home that the bar tool wrote: they have a workspace and no entry in a registry.

Reading shows them as they are. The first command that works in one takes it over: its workspace is
entered in the registry and its part of the snapshot store is made, from the commit the task's
branch left its base at. Nothing of the home is rewritten for that, only added to.
"""

from pathlib import Path

from siding.app.project import Project
from siding.git.pins import pin
from siding.git.roots import recorded_root
from siding.git.seeding import Seed, add_task
from siding.git.worktrees import git_dir_of
from siding.ids import Sha
from siding.tasks.registry import Workspace
from siding.tasks.states import TaskState, WorkspaceState
from siding.tasks.task import Task


def workspace_of(project: Project, task: Task) -> Workspace | None:
    """Return a task's workspace: the registry's, else the one an old home has for it."""
    entered = project.registry.of_task(task.id)
    if entered is not None or not task.branch:
        return entered
    path = _place(project, task)
    if path is None:
        return None
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


def take_over(project: Project, task: Task, workspace: Workspace) -> Workspace:
    """Enter an old home's workspace in the registry. The task's lock is held; safe to repeat."""
    base = workspace.base_commit or _base_commit(project, task)
    pin(project.git, project.paths, base)
    project.snapshots.create()
    tip = add_task(
        project.snapshots,
        Seed(
            task_id=task.id,
            base=base,
            worktree=Path(workspace.path),
            own_git_dir=Path(workspace.git_dir) if workspace.git_dir else None,
            fresh_index=None,
            excludes=project.user_settings.excludes,
            at=int(project.app.clock.now().timestamp()),
            message=f"base\n\nTask: {task.id}",
        ),
    )
    # The base snapshot is the commit itself, so that all that was done so far is in the diff.
    taken = workspace._replace(base_commit=base, base_snapshot=tip)
    with project.changing(f"taking over task {task.id}"):
        project.registry.put(taken)
        current = project.tasks.load(task.id)
        project.tasks.save(current._replace(base_commit=base, worktree=taken.name))
    return taken


def _base_commit(project: Project, task: Task) -> Sha:
    branch = project.repository.resolve(f"refs/heads/{task.branch}")
    base = project.repository.resolve(task.base_ref)
    return project.repository.merge_base(base, branch) or base


def _place(project: Project, task: Task) -> Path | None:
    """Return where an old task's workspace is; the documents disagree about what the path is to."""
    written = Path(task.workspace_path) if task.workspace_path else None
    candidates = [project.layout.workspace(task.id)]
    if written is not None:
        candidates += [project.layout.root / written, project.app.home.root / written]
        candidates += [Path(task.repo_root) / written]
    return next((path for path in candidates if (path / ".git").is_file()), None)
