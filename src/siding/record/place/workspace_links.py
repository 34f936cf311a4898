"""Repair the links between workspaces and git after the repository or the home was moved.


A workspace without a link is still found to be one: by where it is.
"""

import os
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from siding.ground.git.discovery import RepositoryPaths, find_repository, is_linked, names_record
from siding.ground.git.errors import NotARepository
from siding.ground.git.repository import Repository
from siding.ground.ids import TaskId, is_fork
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.project_places import place_of
from siding.record.place.wiring import App
from siding.record.tasks.registry import Workspace
from siding.record.tasks.registry_file import Registry
from siding.record.tasks.slots import SlotBooks
from siding.record.tasks.task import WorkspaceState
from siding.record.worktrees.registration import is_attached, reattach, repair_links

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
        is_ours = is_known(workspace._replace(path=str(here)), git_dir)
        if is_ours and registered and not is_attached(repository, here, git_dir):
            with changing("linking workspaces anew"):
                current = registry.of_task(workspace.task_id) or workspace
                registry.put(current._replace(git_dir=str(git_dir)))
            done = reattach(repository, here, git_dir, workspace.branch, workspace.base_commit)
            notes.append(f"task {workspace.task_id}: {done}")
    return [*notes, *_mend_pool(registry, layout, repository, changing)]


def _mend_pool(
    registry: Registry, layout: ProjectLayout, repository: Repository, changing: Changing
) -> list[str]:
    """Link the worktrees of forks and views, and those that wait, anew; return what was done."""
    books = SlotBooks(layout.forks)
    notes = []
    for slot in (*books.free(), *books.used()):
        here = layout.forks.workspace(slot.name)
        git_dir = repository.paths.common_dir / "worktrees" / slot.name
        links = [git_dir, *([Path(slot.git_dir)] if slot.git_dir else [])]
        is_ours = any(names_record(here, each) for each in links)
        if not is_ours or not (git_dir / "HEAD").is_file() or is_linked(here, git_dir):
            continue
        with changing("linking worktrees of the pool anew"):
            if slot.owner:
                books.use(slot._replace(git_dir=str(git_dir)))
            else:
                books.put_back(slot._replace(git_dir=str(git_dir)))
            entry = registry.of_task(TaskId(slot.owner)) if is_fork(slot.owner) else None
            if entry is not None:
                registry.put(entry._replace(path=str(here), git_dir=str(git_dir)))
        repair_links(here, git_dir, repository.paths.common_dir)
        notes.append(f"mended the links between git and worktree {slot.name}")
    return notes


def is_known(workspace: Workspace, git_dir: Path) -> bool:
    """Tell whether the directory at a workspace's path is the one that was made for the task.

    It has the recorded numbers, or its `.git` file names git's record of it, which may be gone:
    where it is now, `git_dir`, or where it was before the repository was moved.
    """
    path = Path(workspace.path)
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    numbers = (workspace.device, workspace.inode)
    if numbers in ((found.st_dev, found.st_ino), (0, 0)):
        return True
    return any(names_record(path, each) for each in (git_dir, Path(workspace.git_dir)))


def _adopted_place(workspace: Workspace, repository: Repository) -> Path:
    """Return where an adopted workspace is now; git's record of it named the old repository."""
    path = Path(workspace.path)
    common = Path(workspace.git_dir).parent.parent
    if path.is_dir() or common.name != ".git" or not path.is_relative_to(common.parent):
        return path
    return repository.paths.root / path.relative_to(common.parent)


def repository_of_workspace(app: App, found: RepositoryPaths | None) -> RepositoryPaths | None:
    """Return the repository of the workspace that the working directory is in.

    None if it is in none, if git's link to it is whole, or if it is in a repository inside the
    workspace. `found` is what a search for a repository led to, None if it led to none.
    """
    projects = Path(os.path.realpath(app.home.projects_dir))
    workspace = _workspace_around(projects, Path(os.path.realpath(app.cwd)))
    if workspace is None:
        return None
    around = None if found is None else found.worktree
    if around is not None and around != workspace and around.is_relative_to(workspace):
        return None
    if found is not None and is_linked(workspace, found.git_dir):
        return None
    place = place_of(ProjectLayout(projects / workspace.relative_to(projects).parts[0]))
    if place is None or not place.root:
        return None
    try:
        paths = find_repository(Path(place.root))
    except (NotARepository, OSError, ValueError):
        return None
    git_dir = paths.common_dir / "worktrees" / workspace.name
    return paths._replace(git_dir=git_dir, worktree=workspace)


def _workspace_around(projects: Path, here: Path) -> Path | None:
    """Return the workspace of a task or of a fork that holds the directory."""
    if not here.is_relative_to(projects):
        return None
    parts = here.relative_to(projects).parts
    for above in (("workspaces",), ("forks", "workspaces")):
        end = 1 + len(above)
        if parts[1:end] == above and len(parts) > end:
            return projects.joinpath(*parts[: end + 1])
    return None
