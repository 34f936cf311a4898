"""The commit with which the snapshots of a task begin, and taking over another tool's task."""

from pathlib import Path

from siding.ground.ids import Sha, TaskId
from siding.record.place.project import Project
from siding.record.snapshots.seeding import Seed, add_task, pin
from siding.record.snapshots.store_upkeep import create_store
from siding.record.snapshots.task_line import base_snapshot
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

TAKEN_OVER = "taken_over"  # a field of an entry: another tool made the workspace and its branch


def take_over(project: Project, task: Task, workspace: Workspace) -> Workspace:
    """Add the task's workspace to the registry, and return its entry.

    The caller holds the task's lock. Safe to repeat.
    """
    base = workspace.base_commit or _base_commit(project, task)
    pin(project.git, project.paths, base)
    create_store(project.snapshots)
    git_dir = Path(workspace.git_dir) if workspace.git_dir else None
    seed = base_seed(project, task.id, base, Path(workspace.path), git_dir)
    tip = add_task(project.snapshots, seed)
    # The base snapshot is the base commit itself, so that everything done so far shows in a diff.
    # The tip is a later snapshot if steps were recorded before the registry was lost.
    first = base_snapshot(project.snapshots, task.id) or tip
    taken = workspace._replace(
        base_commit=base, base_snapshot=first, rest={**workspace.rest, TAKEN_OVER: True}
    )
    with project.changing(f"taking over task {task.id}"):
        project.registry.put(taken)
        current = project.tasks.load(task.id)
        project.tasks.save(current._replace(base_commit=base, worktree=taken.name))
    return taken


def _base_commit(project: Project, task: Task) -> Sha:
    branch = project.repository.resolve(f"refs/heads/{task.branch}")
    base = project.repository.resolve(task.base_ref)
    return project.repository.merge_base(base, branch) or base


def base_seed(
    project: Project,
    task_id: TaskId,
    base: Sha,
    worktree: Path,
    git_dir: Path | None,
    *,
    fresh_index: Path | None = None,
) -> Seed:
    """Return the seed for a task with this worktree and git directory.

    `fresh_index` is an index that git has just written for `base`, if there is one to copy.
    """
    return Seed(
        task_id=task_id,
        base=base,
        worktree=worktree,
        own_git_dir=git_dir,
        fresh_index=fresh_index,
        excludes=project.user_settings.excludes,
        at=int(project.app.clock.now().timestamp()),
        message=f"base\n\nTask: {task_id}",
    )
