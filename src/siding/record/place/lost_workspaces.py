"""Reconstruct entries of the registry of workspaces from the tasks, the disk and the trash.

The registry can be lost or damaged. The document of a task has its branch, its base commit and the
path of its workspace. The base snapshot is the first one in the task's line in the snapshot store.
The disk shows whether the workspace is there, kept or removed. Two facts are lost: since when a
workspace is kept, and whether another directory was put in its place meanwhile.
"""

import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import NotFound, SidingError, UnreadableFile
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha, TaskId
from siding.ground.storage.documents import read_document
from siding.ground.storage.layout import ProjectLayout
from siding.record.tasks.registry import MOVED_TO, REBUILT, Workspace
from siding.record.tasks.store import TaskStore
from siding.record.tasks.task import TASK_VERSION, Task, TaskState, WorkspaceState, task_from

if TYPE_CHECKING:
    from siding.ground.git.repository import Repository
    from siding.record.snapshots.store import SnapshotStore


class LostWorkspaces:
    """Implements `Elsewhere` of `siding.record.tasks.registry`: entries that the registry lacks."""

    def __init__(
        self,
        layout: ProjectLayout,
        home: Path,
        tasks: TaskStore,
        *,
        repository: "Callable[[], Repository]",
        snapshots: "Callable[[], SnapshotStore]",
    ) -> None:
        self._layout = layout
        self._home = home
        self._tasks = tasks
        self._repository = repository
        self._snapshots = snapshots

    def all(self, known: Collection[str]) -> list[Workspace]:
        """Return the workspaces of all tasks, also deleted ones, except tasks with these ids."""
        there = self._tasks.ids()
        found = [self.of_task(task_id) for task_id in sorted(there) if task_id not in known]
        gone = [self._workspace(task) for task in self._deleted({*known, *there})]
        return [each for each in (*found, *gone) if each is not None]

    def of_task(self, task_id: TaskId) -> Workspace | None:
        """Return a task's workspace; None if it never had one, or if another tool made it."""
        try:
            task = self._tasks.load(task_id)
        except (NotFound, UnreadableFile):
            return None
        return self._workspace(task)

    def _deleted(self, known: Collection[str]) -> list[Task]:
        """Return the deleted tasks: those whose documents are in the trash."""
        found = {}
        for place in self._places(""):
            if place.name.rsplit("-", 2)[0] in known:
                continue
            try:
                document = read_document(
                    place / "task" / "task.json", what="task", version=TASK_VERSION
                )
                task = task_from(document)
            except (OSError, SidingError, KeyError, TypeError, ValueError):
                continue
            if task.id not in known:
                found[task.id] = task
        return list(found.values())

    def _workspace(self, task: Task) -> Workspace | None:
        if not task.worktree:
            return self._given_away(task)
        path = self._path(task)
        removed = self._removed_to(task.id)
        going = removed is not None and path.is_dir() and _was_leaving(removed)
        is_there = path.is_dir() and not going
        status = WorkspaceState.ACTIVE
        if not is_there and (removed is not None or task.status is TaskState.CLOSED):
            status = WorkspaceState.ACTIVE if going else WorkspaceState.REMOVED
        elif is_there and task.status is TaskState.CLOSED:
            status = WorkspaceState.KEPT
        found = Workspace(
            name=task.worktree,
            path=str(path),
            branch=task.branch,
            task_id=task.id,
            status=status,
            created_at=task.created_at,
            base_commit=task.base_commit,
            base_snapshot=self._base_snapshot(task.id),
            adopted=not path.is_relative_to(self._home),
            rest={REBUILT: True},
        )
        if status is WorkspaceState.REMOVED or going:
            return self._away(found, task, removed, going=going)
        return self._here(found, path)

    def _given_away(self, task: Task) -> Workspace | None:
        """Return the entry of a task whose workspace was bound to another task, None for others.

        Those are only planned, or another tool began them, which keeps no registry.
        """
        if MOVED_TO not in task.rest:
            return None
        return Workspace(
            name=task.branch.rpartition("/")[2],
            path=str(self._layout.workspaces_dir / f"{task.id}-{REBUILT}"),
            branch=task.branch,
            task_id=task.id,
            status=WorkspaceState.REMOVED,
            created_at=task.created_at,
            removed_at=task.updated_at,
            base_commit=task.base_commit,
            base_snapshot=self._base_snapshot(task.id),
            rest={REBUILT: True, MOVED_TO: task.rest[MOVED_TO]},
        )

    def _here(self, found: Workspace, path: Path) -> Workspace:
        """Return the entry with the directory's git directory, device and inode."""
        from siding.ground.git.roots import recorded_root
        from siding.record.worktrees.listing import admin_dir

        git_dir = admin_dir(self._repository(), path)
        if git_dir is None:  # `git worktree prune` removed it: this is where it has to be
            git_dir = self._repository().paths.common_dir / "worktrees" / path.name
        found = found._replace(git_dir=str(git_dir))
        if not path.is_dir():
            return found
        try:
            root = recorded_root(path)
        except GitError:  # the path is a symbolic link: without an inode, commands refuse to use it
            return found
        return found._replace(device=root.device, inode=root.inode)

    def _away(self, found: Workspace, task: Task, trash: Path | None, *, going: bool) -> Workspace:
        """Return the entry of a removed workspace; `going`: the removal was cut off."""
        if going:
            intent = {"op": "remove", "at": task.updated_at, "pid": 0}
            found = self._here(found, Path(found.path))._replace(intent=intent)
        else:
            found = found._replace(removed_at=task.closed_at or task.updated_at)
        archive = self._archive(task.id)
        if trash is None and archive is not None:
            trash = self._layout.trash_dir / archive.name.removesuffix(".tar.gz")
        if trash is not None:
            found = found._replace(trash=os.path.relpath(trash, self._layout.root))
        if archive is not None:
            named = os.path.relpath(archive, self._layout.root)
            found = found._replace(rest={**found.rest, "archive": named})
        return found

    def _path(self, task: Task) -> Path:
        """Return the path of the workspace.

        It is below the home, unless another tool began the task, or it was adopted. Documents of
        different versions give the path relative to different directories, so each is tried.
        """
        usual = self._layout.workspace(task.id)
        written = task.workspace_path
        above = (self._home, self._layout.root, Path(task.repo_root)) if written else ()
        named = (Path(os.path.normpath(place / written)) for place in above)
        # The document comes first: after `worktree bind`, the usual place may be another task's.
        candidates = (*named, usual)
        return next((path for path in candidates if (path / ".git").exists()), usual)

    def _base_snapshot(self, task_id: TaskId) -> Sha:
        """Return the first snapshot of the task; "" if the store cannot be read."""
        from siding.record.snapshots.task_line import base_snapshot

        try:
            return base_snapshot(self._snapshots(), task_id) or Sha("")
        except (SidingError, OSError):
            return Sha("")

    def _removed_to(self, task_id: TaskId) -> Path | None:
        """Return the newest directory in the trash with the workspace or its git directory."""
        places = [
            place
            for place in self._places(f"{task_id}-")
            if os.path.lexists(place / "workspace") or os.path.lexists(place / "git-dir")
        ]
        return places[-1] if places else None

    def _archive(self, task_id: TaskId) -> Path | None:
        found = sorted((self._layout.root / "archives").glob(f"{task_id}-*.tar.gz"))
        return found[-1] if found else None

    def _places(self, prefix: str) -> list[Path]:
        try:
            names = sorted(os.listdir(self._layout.trash_dir))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [self._layout.trash_dir / name for name in names if name.startswith(prefix)]


def _was_leaving(trash: Path) -> bool:
    """Tell whether a removal was cut off after the git directory moved, before the files did."""
    return os.path.lexists(trash / "git-dir") and not os.path.lexists(trash / "workspace")
