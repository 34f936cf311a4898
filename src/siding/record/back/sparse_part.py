"""Keep off the disk what a sparse checkout leaves out: a restoration does not write it.

A snapshot has such a path as the base has it. Where the state to go to has it like that, the file
was not on the disk, so one that is there now goes, and none is written.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.git.tree_modes import GITLINK, NOTHING
from siding.ground.ids import Sha, TaskId
from siding.record.moving.sparse import is_sparse, left_out
from siding.record.place.project import Project
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.room import place_for
from siding.record.snapshots.seeding import leave_out_sparse
from siding.record.snapshots.store import PEEKS, SnapshotStore
from siding.record.tasks.registry import Workspace


def kept_off(
    project: Project,
    store: SnapshotStore,
    task_id: TaskId,
    changes: Sequence[Change],
    snapshot: Sha,
) -> tuple[Change, ...]:
    """Return those of `changes`, which lead to `snapshot`, whose files the disk does not have
    there."""
    workspace = project.workspaces.of_task(task_id)
    files = [
        c for c in changes if c.new_mode != NOTHING and GITLINK not in (c.old_mode, c.new_mode)
    ]
    if workspace is None or not files or not workspace.base_snapshot:
        return ()
    where = _where(project, workspace)
    if where is None:
        return ()
    place = place_for(store, PEEKS, os.urandom(8).hex())
    out = left_out(project.repository, where, files, place)
    if out:
        out -= {c.path for c in diff_trees(store, Sha(workspace.base_snapshot), snapshot)}
    return tuple(change for change in files if change.path in out)


def without_kept_off(changes: Sequence[Change], off: Sequence[Change]) -> list[Change]:
    """Return the changes of the disk: a file that is kept off goes if it is there."""
    paths = {change.path for change in off}
    zeros = Sha("0" * len(off[0].new_sha)) if off else Sha("")
    return [
        change._replace(status="D", new_mode=NOTHING, new_sha=zeros)
        if change.path in paths
        else change
        for change in changes
        if change.path not in paths or change.old_mode != NOTHING
    ]


def leave_out(
    project: Project,
    store: SnapshotStore,
    task_id: TaskId,
    off: Sequence[Change],
    keep_fds: Sequence[int],
) -> None:
    """Mark in the task's own index what was kept off, so that a capture does not look for it."""
    workspace = project.workspaces.of_task(task_id)
    if off and workspace is not None:
        leave_out_sparse(store, store.task(task_id), Path(workspace.git_dir), keep_fds=keep_fds)


def _where(project: Project, workspace: Workspace) -> Place | None:
    if not workspace.git_dir:
        return None
    common = project.repository.paths.common_dir
    where = Place(git_dir=Path(workspace.git_dir), common_dir=common)
    return where if is_sparse(project.repository, where) else None
