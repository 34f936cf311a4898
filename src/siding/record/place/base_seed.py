"""The seed of a task's snapshots: the commit that the task is based on."""

from pathlib import Path

from siding.ground.ids import Sha, TaskId
from siding.record.place.project import Project
from siding.record.snapshots.seeding import Seed


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
