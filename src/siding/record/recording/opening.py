"""Open the recorder of a task, after making sure that it has a workspace and a base snapshot."""

import os
from pathlib import Path

from siding.ground.git.discovery import common_directory, is_linked, is_same
from siding.ground.git.roots import current_root
from siding.ground.ids import Sha
from siding.record.place.locks import Hold
from siding.record.place.project import Project
from siding.record.place.redaction import Redaction
from siding.record.place.task_workspace import NoWorkspace, require_workspace
from siding.record.recording.recorder import BaseUnknown, Recorder
from siding.record.recording.snapshots import root_of
from siding.record.snapshots.capture import Capture
from siding.record.snapshots.coverage import Coverage
from siding.record.tasks.registry import REBUILT, Workspace
from siding.record.tasks.task import Task


def open_recorder(
    project: Project, task: Task, hold: Hold, *, redaction: Redaction | None = None
) -> Recorder:
    """Return the recorder of a task. The caller holds the task's lock.

    Takes the base snapshot if there is none. Raises NoWorkspace, and BaseUnknown if the base
    snapshot is lost.
    """
    if os.path.lexists(project.task_layout(task.id).root / "phase-intent.json"):
        from siding.record.unfinished.phases import finish_before_work

        # A phase move that was cut off may have left git's index.lock in the workspace.
        finish_before_work(project, task)
    workspace = require_workspace(project, task)
    if not has_link(project, workspace):
        from siding.record.unfinished.broken_link import mend_if_possible

        mend_if_possible(project, task, workspace)
    workspace = _with_its_numbers(project, workspace)
    if project.workspaces.of_task(task.id) is None:
        # Only for tasks that another tool began: they are not in the registry.
        from siding.record.place.take_over import take_over

        workspace = take_over(project, task, workspace)
    elif not workspace.base_snapshot:
        # A rebuilt entry: the workspace has changed since it was made, so it cannot be the base.
        if workspace.rest.get(REBUILT):
            raise BaseUnknown(task)
        workspace = take_base_snapshot(project, task, workspace, hold)
    if project.workspaces.lacks(task.id):
        with project.changing(f"writing down the workspace of task {task.id}"):
            project.registry.mend()
    return Recorder(project, task, workspace, hold, redaction=redaction)


def _with_its_numbers(project: Project, workspace: Workspace) -> Workspace:
    """Return the entry with the numbers that the directory has now; changed ones are stored.

    Raises WorkspaceReplaced for another directory.
    """
    root = root_of(workspace)
    now = current_root(root)
    if now == root:
        return workspace
    renewed = workspace._replace(device=now.device, inode=now.inode)
    with project.changing(f"finding the workspace of task {workspace.task_id} again"):
        project.registry.put(renewed)
    return renewed


def open_anywhere(
    project: Project, task: Task, hold: Hold, *, redaction: Redaction | None = None
) -> Recorder:
    """Return the recorder of a task whose workspace may have been removed.

    Without a workspace, the newest snapshot counts as the task's state.
    """
    try:
        return open_recorder(project, task, hold, redaction=redaction)
    except NoWorkspace:
        return _without_workspace(project, task, hold)


def has_link(project: Project, workspace: Workspace) -> bool:
    """Tell whether git in a workspace works there; entries of other tools do not say."""
    if not workspace.git_dir:
        return True
    git_dir = Path(workspace.git_dir)
    if not (git_dir / "HEAD").exists() or not is_linked(Path(workspace.path), git_dir):
        return False
    return is_same(common_directory(git_dir), project.paths.common_dir)


def _without_workspace(project: Project, task: Task, hold: Hold) -> Recorder:
    workspace = project.workspaces.of_task(task.id)
    last = project.ledger(task.id).last()
    snapshot = (last and last.snapshot) or (workspace and workspace.base_snapshot)
    if workspace is None or not snapshot:
        raise NoWorkspace(
            f"task {task.name!r} has no workspace, and no snapshot of it is left",
            hint="`siding doctor` says what is lost",
        )
    recorder = Recorder(project, task, workspace, hold)
    at = Sha(snapshot)
    recorder.freeze(
        Capture(
            snapshot=at,
            parent=at,
            tree=project.snapshots.read_commit(at).tree,
            changes=(),
            heads=(),
            coverage=Coverage(),
            modes=None,
        )
    )
    return recorder


def take_base_snapshot(project: Project, task: Task, workspace: Workspace, hold: Hold) -> Workspace:
    """Take the base snapshot of a new workspace, and store it in the registry with the workspace.

    The commit is not enough: git's conversions, such as line endings, may have changed the bytes.
    """
    base = Recorder(project, task, workspace, hold).capture(0, "base")
    lacks = {} if base.coverage.complete else {"base_coverage": base.coverage.as_record()}
    with project.changing(f"recording the base of task {task.id}"):
        workspace = workspace._replace(
            base_snapshot=base.snapshot, rest={**workspace.rest, **lacks}
        )
        project.registry.put(workspace)
    return workspace
