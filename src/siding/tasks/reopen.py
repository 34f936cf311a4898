"""Reopen a task that was closed or deleted, or whose workspace was removed."""

import os
from pathlib import Path
from typing import Any

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.files.durable import make_dirs, move_aside, remove_file
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.locks import FileLock
from siding.record.place.events import TaskChanged
from siding.record.place.locks import holding_task
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.place.selection import current_task_id
from siding.record.place.terminal_task import make_current
from siding.record.tasks.moves import TaskMove, WorkspaceMove, move_task, move_workspace
from siding.record.tasks.registry import MOVED_TO, Workspace
from siding.record.tasks.task import CLOSED_AFTER, REOPENED, Task, TaskState, WorkspaceState
from siding.record.workspaces.archives import (
    ARCHIVES,
    lay_out,
    lay_out_records,
    places_in_trash,
    records_archive,
    task_name_in,
)
from siding.record.workspaces.attempts import Attempt, naming
from siding.record.workspaces.branches import fate_of
from siding.record.workspaces.recovery import recover_if_cut_off
from siding.record.workspaces.restoration import bring_back


class Reopened(NamedTuple):
    """A reopened task; `active` tells whether it is the active task now."""

    task: Task
    workspace: Workspace | None
    notes: tuple[str, ...]
    active: bool


class Gone(NamedTuple):
    """A deleted task: its records are in the trash or in an archive."""

    id: TaskId
    name: str
    trash: Path
    archive: Path | None


def reopen(project: Project, named: str, *, by_undo: bool = False, wait: bool = False) -> Reopened:
    """Restore a task: its records, its workspace, and its place on the board.

    `by_undo` leaves a mark that lets `siding redo` close the task again. Raises NotFound,
    UsageError for a task that is open, and the errors of `bring_back`; none of them loses anything.
    """
    with Attempt(project, "worktree.restore", worktree={"name": named}) as attempt:
        task, was_deleted = _find(project, named)
        attempt.about(task, naming(project.registry.of_task(task.id)))
        with holding_task(project, task.id, f"reopening task {task.name}", wait=wait):
            recover_if_cut_off(project, task.id)
            reopened = _reopen(project, task.id, attempt, by_undo=by_undo, deleted=was_deleted)
    project.events.emit(TaskChanged(reopened.task, "reopened"))
    return reopened


def _reopen(
    project: Project, task_id: TaskId, attempt: Attempt, *, by_undo: bool, deleted: bool
) -> Reopened:
    task = project.tasks.load(task_id)
    workspace = project.registry.of_task(task.id)
    removed = workspace is not None and workspace.status is WorkspaceState.REMOVED
    if task.status is not TaskState.CLOSED and not removed:
        raise UsageError(f"task {task.name!r} is open", hint="there is nothing to reopen")
    mark = _mark(project, task, workspace, deleted=deleted) if by_undo else None
    notes: tuple[str, ...] = ()
    if workspace is not None and removed:
        project.repository.refuse_blocked_branch(workspace.branch)
        workspace, notes = bring_back(project, workspace, attempt)
    elif workspace is not None and workspace.status is WorkspaceState.KEPT and not by_undo:
        workspace = _resumed(project, workspace)
    task, active = _open(project, task, workspace, mark)
    return Reopened(task=task, workspace=workspace, notes=notes, active=active)


def deleted_tasks(project: Project) -> list[Gone]:
    """Return the deleted tasks: those in the trash, and those of which only an archive is left."""
    there = set(project.tasks.ids())
    found: dict[TaskId, Gone] = {}
    for workspace in project.registry.all():
        if workspace.task_id in there or workspace.trash is None:
            continue
        trash = project.layout.root / workspace.trash
        archive = workspace.rest.get("archive")
        found[workspace.task_id] = Gone(
            id=workspace.task_id,
            name=_name_in(trash) or workspace.name.removesuffix(f"-{workspace.task_id}"),
            trash=trash,
            archive=project.layout.root / str(archive) if archive else None,
        )
    for trash in _record_places(project):
        task_id = TaskId(trash.name)
        if task_id not in there and task_id not in found:
            found[task_id] = Gone(id=task_id, name=_name_in(trash) or "", trash=trash, archive=None)
    for archive in (project.layout.root / ARCHIVES).glob("*.tar.gz"):
        task_id = TaskId(archive.name.partition(".")[0])
        if "-" not in task_id and task_id not in there and task_id not in found:
            found[task_id] = Gone(
                id=task_id,
                name=task_name_in(archive, task_id),
                trash=project.layout.trash_dir / task_id,
                archive=archive,
            )
    return list(found.values())


def _find(project: Project, named: str) -> tuple[Task, bool]:
    """Return the task, and whether it was deleted; the records of a deleted task are restored."""
    try:
        return resolve(project, named), False
    except NotFound as unknown:
        gone = [each for each in deleted_tasks(project) if named in (each.id, each.name)]
        gone = gone or [each for each in deleted_tasks(project) if each.id.startswith(named)]
        if not gone:
            raise
        if len(gone) > 1:
            ids = ", ".join(sorted(each.id for each in gone))
            raise UsageError(
                f"{named!r} could be any of several tasks: {ids}", hint="use the id"
            ) from unknown
        _undelete(project, gone[0])
        return project.tasks.load(gone[0].id), True


def _undelete(project: Project, gone: Gone) -> None:
    """Move a deleted task's records from the trash, or its archive, back to the board."""
    with deleted_lock(project, gone.id):
        records = gone.trash / "task"
        if not os.path.lexists(records) and gone.archive is not None:
            workspace = project.registry.of_task(gone.id)
            if workspace is None:
                lay_out_records(project, gone.id, gone.archive)
            else:
                lay_out(project, workspace, gone.archive, gone.trash)
        target = project.task_layout(gone.id).root
        if os.path.lexists(target):
            # A command that waited for the task's lock has made the directory again, with only the
            # lock in it.
            if set(os.listdir(target)) - {"lock"}:
                raise SidingError(f"{str(target)!r} is in the way of the task's records")
            make_dirs(gone.trash / "found")
            move_aside(target, gone.trash / "found" / project.app.random_bytes(4).hex())
        make_dirs(target.parent)
        move_aside(records, target)
        remove_file(records_archive(project, gone.id))


def deleted_lock(project: Project, task_id: TaskId) -> FileLock:
    """Take and return the lock of a deleted task.

    The usual lock is in the task's directory, which is in the trash.
    """
    make_dirs(project.layout.locks_dir)
    lock = FileLock(project.layout.lock(f"deleted-{task_id}"))
    lock.acquire(timeout_s=None, holder=None)
    return lock


def _open(
    project: Project, task: Task, workspace: Workspace | None, mark: dict[str, Any] | None
) -> tuple[Task, bool]:
    """Mark the task as open, and make it the active one if no task is active.

    A task whose workspace went to another task gets the one that was made now.
    """
    with project.changing(f"reopening task {task.id}"):
        current = project.tasks.load(task.id)
        status = current.status
        if status is TaskState.CLOSED:
            status = move_task(status, TaskMove.REOPEN)
        rest = {
            key: value
            for key, value in current.rest.items()
            if key not in (REOPENED, CLOSED_AFTER, MOVED_TO)
        }
        if workspace is not None and not current.worktree:
            current = current._replace(
                worktree=workspace.name,
                workspace_path=os.path.relpath(workspace.path, project.app.home.root),
            )
        opened = current._replace(
            status=status,
            closed_at=None,
            updated_at=project.app.now(),
            rest={**rest, **({REOPENED: mark} if mark else {})},
        )
        project.tasks.save(opened)
        if current_task_id(project) is None:
            make_current(project, task.id)
        elif not project.active_task_id():
            project.set_active(task.id)
        active = current_task_id(project) == task.id
    return opened, active


def _mark(
    project: Project, task: Task, workspace: Workspace | None, *, deleted: bool
) -> dict[str, Any]:
    """Return the mark from which a redo can close the task again in the same way."""
    last = project.ledger(task.id).last()
    removed = workspace is not None and workspace.status is WorkspaceState.REMOVED
    fate = None if workspace is None else fate_of(workspace)
    return {
        "after": last.number if last else 0,
        "closed": task.status is TaskState.CLOSED,
        "fate": "delete" if deleted else "remove" if removed else "keep",
        "at": project.app.now(),
        **({"keep_branch": True} if fate is not None and fate.asked else {}),
        **({CLOSED_AFTER: task.rest[CLOSED_AFTER]} if CLOSED_AFTER in task.rest else {}),
    }


def _resumed(project: Project, workspace: Workspace) -> Workspace:
    resumed = workspace._replace(status=move_workspace(workspace.status, WorkspaceMove.RESUME))
    with project.changing(f"reopening task {workspace.task_id}"):
        project.registry.put(resumed)
    return resumed


def _record_places(project: Project) -> list[Path]:
    """Return the directories in the trash of deleted tasks that never had a workspace."""
    try:
        found = sorted(project.layout.trash_dir.iterdir())
    except FileNotFoundError:
        return []
    return [
        place
        for place in found
        if (place / "task" / "task.json").is_file() and "-" not in place.name
    ]


def _name_in(trash: Path) -> str | None:
    document = read_document_or_none(trash / "task" / "task.json", what="task", version=1)
    return None if document is None else str(document.get("name") or "")


__all__ = ["Gone", "Reopened", "deleted_lock", "deleted_tasks", "places_in_trash", "reopen"]
