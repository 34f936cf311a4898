"""Repair the links between workspaces and git after the repository or the home was moved."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from siding.git.repository import Repository
from siding.git.worktrees.reattach import is_attached, reattach
from siding.storage.layout import ProjectLayout
from siding.tasks.registry import Registry, Workspace
from siding.tasks.states import WorkspaceState

Changing = Callable[[str], AbstractContextManager[None]]


def mend_links(
    registry: Registry, layout: ProjectLayout, repository: Repository, changing: Changing
) -> list[str]:
    """Correct the paths of all workspaces, in the registry and in git; return what was done.

    A workspace must be in its usual place below the home; an adopted one where it was, or, if it
    was inside the repository, at the same place inside it.
    """
    notes: list[str] = []
    for workspace in registry.all():
        if workspace.status not in (WorkspaceState.ACTIVE, WorkspaceState.KEPT):
            continue
        here = layout.workspaces_dir / Path(workspace.path).name
        if not here.is_dir():
            here = layout.workspace(workspace.task_id)
        if workspace.adopted:
            here = _adopted_place(workspace, repository)
        moved = workspace.path != str(here) and not Path(workspace.path).is_dir() and here.is_dir()
        if moved:
            with changing("linking workspaces anew"):
                registry.put(workspace._replace(path=str(here)))
            notes.append(f"the workspace of task {workspace.task_id} is at {here} now")
        git_dir = repository.paths.common_dir / "worktrees" / Path(workspace.git_dir).name
        # Without it, git has pruned its record of the worktree; `siding doctor` reports that.
        registered = (git_dir / "HEAD").is_file()
        if here.is_dir() and registered and not is_attached(repository, here, git_dir):
            with changing("linking workspaces anew"):
                current = registry.of_task(workspace.task_id) or workspace
                registry.put(current._replace(git_dir=str(git_dir)))
            done = reattach(repository, here, git_dir, workspace.branch, workspace.base_commit)
            notes.append(f"task {workspace.task_id}: {done}")
    return notes


def _adopted_place(workspace: Workspace, repository: Repository) -> Path:
    """Return where an adopted workspace is now; git's record of it named the old repository."""
    path = Path(workspace.path)
    common = Path(workspace.git_dir).parent.parent
    if path.is_dir() or common.name != ".git" or not path.is_relative_to(common.parent):
        return path
    return repository.paths.root / path.relative_to(common.parent)
