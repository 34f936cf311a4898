"""A repository, or the home, that was moved: its project is found again and its links mended."""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.app.project import Project, find_project, require_project
from siding.app.wiring import App
from siding.errors import SidingError
from siding.git.discovery import RepositoryPaths, find_repository
from siding.git.reattach import is_attached, reattach
from siding.storage.documents import read_document_or_none, write_document
from siding.storage.files import move_aside
from siding.storage.layout import ProjectLayout, project_dir_name
from siding.tasks.registry import Registry
from siding.tasks.states import WorkspaceState

PROJECT_VERSION = 1


def find_or_adopt(app: App, *, adopt: bool) -> tuple[Project, list[str]]:
    """Return the project here and what was done to find it.

    A project whose repository is gone, and whose workspaces are known to the git directory here,
    belongs to this repository under its new path. Raises NotInitialised when there is none.
    """
    project = find_project(app)
    if project is not None:
        return project, _mend_home(project) if adopt else []
    paths = find_repository(app.cwd)
    for layout, old_root in _orphans(app):
        if not _is_ours(layout, paths):
            continue
        if not adopt:
            raise SidingError(
                f"this repository was at {old_root!r} when Siding last saw it",
                hint="`siding doctor` without --check finds its project again",
            )
        return _adopt(app, layout, paths), [f"the repository was moved here from {old_root}"]
    return require_project(app), []


def _orphans(app: App) -> Iterator[tuple[ProjectLayout, str]]:
    """Yield the projects whose repository is not where it was."""
    try:
        names = sorted(os.listdir(app.home.projects_dir))
    except FileNotFoundError:
        return
    for name in names:
        layout = ProjectLayout(app.home.projects_dir / name)
        try:
            document = read_document_or_none(
                layout.project_json, what="project", version=PROJECT_VERSION
            )
        except SidingError:
            continue
        root = str((document or {}).get("repo_root") or "")
        if root and not os.path.lexists(root):
            yield layout, root


def _is_ours(layout: ProjectLayout, paths: RepositoryPaths) -> bool:
    """Return whether git here knows a workspace of that project, by the name of its task."""
    known = paths.common_dir / "worktrees"
    return any((known / each.task_id).is_dir() for each in Registry(layout.worktrees_json).all())


def _adopt(app: App, layout: ProjectLayout, paths: RepositoryPaths) -> Project:
    document = read_document_or_none(layout.project_json, what="project", version=PROJECT_VERSION)
    write_document(
        layout.project_json,
        {**(document or {}), "repo_root": str(paths.root), "moved_at": app.now()},
    )
    target = app.home.projects_dir / project_dir_name(paths.root)
    if not os.path.lexists(target):
        move_aside(layout.root, target)
        layout = ProjectLayout(target)
    project = Project(app, layout, paths)
    _mend_home(project)
    for task in list(project.tasks.readable()):
        if task.repo_root != str(paths.root):
            with project.changing("doctor"):
                project.tasks.save(task._replace(repo_root=str(paths.root)))
    return project


def _mend_home(project: Project) -> list[str]:
    """Give every workspace that stands where it belongs the path it has now."""
    notes: list[str] = []
    for workspace in project.registry.all():
        if workspace.status not in (WorkspaceState.ACTIVE, WorkspaceState.KEPT):
            continue
        here = project.layout.workspace(workspace.task_id)
        moved = workspace.path != str(here) and not Path(workspace.path).is_dir() and here.is_dir()
        if moved:
            with project.changing("doctor"):
                project.registry.put(workspace._replace(path=str(here)))
            notes.append(f"the workspace of task {workspace.task_id} is at {here} now")
        git_dir = project.paths.common_dir / "worktrees" / Path(workspace.git_dir).name
        registered = (git_dir / "HEAD").is_file()  # else it was pruned, which `examine` finds
        if here.is_dir() and registered and not is_attached(project.repository, here, git_dir):
            with project.changing("doctor"):
                current = project.registry.of_task(workspace.task_id) or workspace
                project.registry.put(current._replace(git_dir=str(git_dir)))
            done = reattach(
                project.repository, here, git_dir, workspace.branch, workspace.base_commit
            )
            notes.append(f"task {workspace.task_id}: {done}")
    return notes
