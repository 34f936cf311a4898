"""Delete the trash of a closed task, after its archive was written and read back."""

import os
from pathlib import Path

from siding.ground.files.durable import make_dirs, move_aside
from siding.ground.ids import TaskId
from siding.record.place.events import WorkspaceChanged
from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree
from siding.record.tasks.registry import Workspace
from siding.record.workspaces.archives import places_in_trash, write_archive, write_records

COLLECT = "collect"


def collect(project: Project, workspace: Workspace) -> Workspace:
    """Archive a removed workspace and delete it from the trash; return its new entry.

    The caller holds the task's lock. Before anything is deleted, the registry gets the name of the
    archive and the intent to delete.
    """
    archive = workspace.rest.get("archive")
    if not archive:
        archive = os.path.relpath(write_archive(project, workspace), project.layout.root)
    going = workspace._replace(
        intent={"op": COLLECT, "at": project.app.now(), "pid": project.app.pid},
        rest={**workspace.rest, "archive": archive},
    )
    _put(project, going)
    return finish_collection(project, going)


def collect_records(project: Project, task_id: TaskId) -> Path:
    """Archive and delete the trash of a deleted task without a workspace; return the archive.

    The caller holds the lock of the deleted task. Each directory leaves the trash by one rename
    before it is deleted, so after a crash the task is complete in the archive, the trash, or both.
    """
    archive = write_records(project, task_id)
    going = project.layout.root / "restoring" / f"{task_id}.freed"
    make_dirs(going.parent)
    for place in places_in_trash(project, task_id):
        remove_tree(going)
        move_aside(place, going)
    remove_tree(going)
    project.events.emit(WorkspaceChanged(task_id, "collected"))
    return archive


def finish_collection(project: Project, going: Workspace) -> Workspace:
    """Finish a deletion, and return the new entry. Safe to repeat after a crash at any point."""
    for place in places_in_trash(project, going.task_id):
        _delete(place)
    done = going._replace(intent=None)
    _put(project, done)
    project.events.emit(WorkspaceChanged(going.task_id, "collected", {"name": going.name}))
    return done


def _delete(place: Path) -> None:
    """Delete a directory tree without following links.

    Directories without write permission are made writable first, else their files would stay.
    """
    import shutil

    for parent, _directories, _files in os.walk(place):
        if not os.access(parent, os.R_OK | os.W_OK | os.X_OK):
            os.chmod(parent, 0o700)
    shutil.rmtree(place)


def _put(project: Project, workspace: Workspace) -> None:
    with project.changing(f"freeing the workspace of task {workspace.task_id}"):
        project.registry.put(workspace)
