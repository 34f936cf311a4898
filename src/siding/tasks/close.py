"""Close a task. Its workspace is kept, or moved to the trash with all that is in it."""

import os
from enum import StrEnum
from functools import partial
from pathlib import Path

from siding.ground.errors import SidingError, counted
from siding.ground.files.durable import make_dirs, move_aside
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.unapplied import unapplied
from siding.record.place.events import TaskChanged
from siding.record.place.locks import Hold, holding_task
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.task_workspace import known_workspace, workspace_of
from siding.record.recording.opening import open_recorder
from siding.record.recording.recorder import BaseUnknown, Recorder
from siding.record.tasks.moves import TaskMove, move_task
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import (
    CLOSED_AFTER,
    REOPENED,
    Task,
    TaskBusy,
    TaskState,
    WorkspaceState,
)
from siding.record.unfinished.left_running import in_the_way
from siding.record.unfinished.live_workflows import live_workflows
from siding.record.workspaces.attempts import Attempt, naming
from siding.record.workspaces.beginning import FROM
from siding.record.workspaces.branches import BranchFate, fate_of
from siding.record.workspaces.recovery import recover_cut_off, recover_if_cut_off
from siding.record.workspaces.reserve import spending_reserve
from siding.record.workspaces.workspaces import finish_removal, keep, remove

__all__ = [
    "Closed",
    "Fate",
    "NotSwitchedOver",
    "close_task",
    "finish_removal",
    "keep_workspace",
    "remove_workspace",
]


class Fate(StrEnum):
    """What happens to the workspace of a task that is closed.

    `USUAL`: it is removed, but an adopted one stays, because it is somebody else's.
    """

    USUAL = "usual"
    REMOVE = "remove"
    KEEP = "keep"
    DELETE = "delete"  # the workspace and the task's records are moved to the trash


class NotSwitchedOver(SidingError):
    """The workspace contains changes that exist nowhere else."""

    code = "work_left"


class Closed(NamedTuple):
    """A task that was closed; `trash` is the directory of its records if it was deleted."""

    task: Task
    workspace: Workspace | None
    fate: Fate
    trash: Path | None

    @property
    def branch(self) -> BranchFate | None:
        """What became of the task's branch; None if its workspace was kept or it had none."""
        gone = self.workspace is not None and self.workspace.status is WorkspaceState.REMOVED
        return fate_of(self.workspace) if gone and self.workspace is not None else None


def close_task(
    project: Project,
    task: Task,
    *,
    fate: Fate,
    force: bool,
    keep_branch: bool = False,
    after: int | None = None,
) -> Closed:
    """Close a task.

    A last snapshot is taken, and a workspace that is removed is moved to the trash as a whole. A
    closed task can still be deleted later. Its branch is deleted if nothing is lost with it, unless
    `keep_branch` is set. `Closed.fate` says what became of the workspace. `after` is the number of
    the last step before the closing, if a redo closes the task as it was. Raises NotSwitchedOver if
    the workspace would be removed while it has changes, unless `force` is set.
    """
    project.require_repository()
    require_of_board(task, "closing")
    recover_cut_off(project)
    fate = _decided(project, task, fate)
    with (
        spending_reserve(project),
        _closing(project, task, fate) as attempt,
        holding_task(project, task.id, f"closing task {task.name}") as hold,
    ):
        recover_if_cut_off(project, task.id)
        _refuse_what_was_left(project, task)
        task = project.tasks.load(task.id)
        is_closed = fate is Fate.DELETE and task.status is TaskState.CLOSED
        if not is_closed:
            move_task(task.status, TaskMove.CLOSE)
        workspace = workspace_of(project, task)
        if workspace is not None and _has_place(workspace):
            if fate is not Fate.KEEP and not force:
                _refuse_to_hide_work(project, task, hold, keeping="--keep")
            elif Path(workspace.path).is_dir():
                _record_last_state(project, task, hold)
            if fate is Fate.KEEP:
                workspace = _kept(project, task, workspace)
            else:
                close = None if is_closed else partial(_close, project, task, after)
                workspace = remove(
                    project, workspace, attempt, complete=close, keep_branch=keep_branch
                )
        closed = _closed(project, task, after)
        trash = _delete_records(project, closed) if fate is Fate.DELETE else None
    return Closed(task=closed, workspace=workspace, fate=fate, trash=trash)


def keep_workspace(project: Project, task: Task) -> Workspace:
    """Record that the workspace of a task is kept, and return its entry."""
    recover_cut_off(project)
    with (
        Attempt(project, "worktree.keep", task, naming(workspace_of(project, task))),
        holding_task(project, task.id, f"keeping the workspace of {task.name}"),
    ):
        recover_if_cut_off(project, task.id)
        return keep(project, task, known_workspace(project, task))


def remove_workspace(
    project: Project, task: Task, *, force: bool, complete: bool, keep_branch: bool = False
) -> tuple[Workspace, Task]:
    """Move a workspace to the trash; with `complete`, also close the task.

    If an earlier removal was cut off, it is finished instead of starting another one.
    """
    project.require_repository()
    is_half_done = _is_going(project, task)
    recover_cut_off(project)
    with (
        Attempt(project, "worktree.remove", task, naming(workspace_of(project, task))) as attempt,
        holding_task(project, task.id, f"removing the workspace of {task.name}") as hold,
    ):
        recover_if_cut_off(project, task.id)
        _refuse_what_was_left(project, task)
        workspace = known_workspace(project, task)
        is_done = is_half_done and workspace.status is WorkspaceState.REMOVED
        if is_done:
            pass
        elif not force:
            _refuse_to_hide_work(project, task, hold, keeping="`siding worktree keep`")
        elif Path(workspace.path).is_dir():
            _record_last_state(project, task, hold)
        if complete:
            move_task(task.status, TaskMove.CLOSE)
        close = partial(_close, project, task) if complete else None
        gone = workspace
        if not is_done:
            gone = remove(project, workspace, attempt, complete=close, keep_branch=keep_branch)
        return gone, _closed(project, task) if complete else task


def _decided(project: Project, task: Task, fate: Fate) -> Fate:
    """Return what happens to the task's workspace if nobody said more than that it is closed."""
    if fate is not Fate.USUAL:
        return fate
    workspace = workspace_of(project, task)
    stays = workspace is not None and workspace.adopted and _has_place(workspace)
    return Fate.KEEP if stays else Fate.REMOVE


def _closing(project: Project, task: Task, fate: Fate) -> Attempt:
    """Return the attempt to close a task: about its workspace, as far as it has one."""
    workspace = workspace_of(project, task)
    if workspace is None or not _has_place(workspace):
        return Attempt(project, "task.close", task)
    act = "worktree.keep" if fate is Fate.KEEP else "worktree.remove"
    return Attempt(project, act, task, naming(workspace))


def _is_going(project: Project, task: Task) -> bool:
    workspace = project.registry.of_task(task.id)
    return workspace is not None and (workspace.intent or {}).get("op") == "remove"


def _has_place(workspace: Workspace) -> bool:
    return workspace.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)


def _kept(project: Project, task: Task, workspace: Workspace) -> Workspace:
    if workspace.status is WorkspaceState.KEPT:
        return workspace
    return keep(project, task, workspace)


def _refuse_to_hide_work(project: Project, task: Task, hold: Hold, *, keeping: str) -> None:
    workspace = known_workspace(project, task)
    if not Path(workspace.path).is_dir():
        return
    recorder: Recorder = open_recorder(project, task, hold)
    recorder.settle()
    changed = recorder.changes_since_base()
    if not changed or _is_as_started(recorder):
        return
    applied = _on_a_branch(recorder)
    if applied is not None:
        changed = recorder.changes_since(applied)
    if changed:
        files = counted(changed, "changed file")
        raise NotSwitchedOver(
            f"the work of task {task.name!r} is only in its workspace: {files}"
            if applied is None
            else f"what changed in task {task.name!r} since it was applied is only in its "
            f"workspace: {files}",
            hint=f"{keeping} leaves the workspace in place; --force moves it into the trash, from "
            "where it can be brought back",
        )


def _on_a_branch(recorder: Recorder) -> str | None:
    """Return the newest snapshot that was applied whole and whose commit is on its branch still."""
    step = unapplied(recorder.ledger).applied
    if step is None or step.detail.left_out or step.detail.gone_back:
        return None
    repository = recorder.project.repository
    made, name = step.detail.commit_sha, step.detail.target_branch
    tip = repository.branch(name) if name else None
    if not made or tip is None or not repository.is_ancestor(Sha(made), tip):
        return None
    return step.snapshot


def _is_as_started(recorder: Recorder) -> bool:
    """Tell whether a task has only what it started from (``--from``), which is elsewhere."""
    last = recorder.ledger.last()
    begun = None if last is None or last.number > 1 else last.as_checkpoint
    return begun is not None and begun.origin == FROM


def _refuse_what_was_left(project: Project, task: Task) -> None:
    """Raise TaskBusy if what runs left running would work on in what is taken away."""
    for flow in live_workflows(project, task.id):
        raise TaskBusy(
            f"task {task.name!r} is busy: the workflow {flow.name!r} runs in it ({flow.run_id})",
            hint=f"`siding workflow kill {flow.run_id}` ends it; --stop does it first",
        )
    for left in in_the_way(project, task.id):
        named = ", ".join(each.named for each in left.processes)
        raise TaskBusy(
            f"task {task.name!r} is busy: run {left.run.id} `{left.run.title[:60]}` has ended, "
            f"and left running: {named}",
            hint=f"`siding stop {left.run.id}` ends that; --stop does it first",
        )


def _record_last_state(project: Project, task: Task, hold: Hold) -> None:
    """Take a last snapshot. If earlier snapshots are lost, only warn.

    In this case the workspace itself is the only record: it is kept or moved to the trash as a
    whole, and `siding gc` does not free it.
    """
    try:
        open_recorder(project, task, hold).settle()
    except (BaseUnknown, SnapshotDamaged) as error:
        project.app.warn(f"{error.message}; the workspace is kept whole, without a snapshot")


def _closed(project: Project, task: Task, after: int | None = None) -> Task:
    """Return the task as it is once it is closed; close it unless it was closed already."""
    current = project.tasks.load(task.id)
    if current.status is not TaskState.CLOSED:
        return _close(project, task, after)
    if project.active_task_id() == task.id:  # an earlier closing was cut off before this
        with project.changing(f"closing task {task.id}"):
            project.set_active(None)
    return current


def _close(project: Project, task: Task, after: int | None = None) -> Task:
    now = project.app.now()
    if after is None:
        last = project.ledger(task.id).last()
        after = last.number if last else 0
    with project.changing(f"closing task {task.id}"):
        current = project.tasks.load(task.id)
        rest = {**current.rest, CLOSED_AFTER: after}
        rest.pop(REOPENED, None)  # of a reopening before; the next one leaves its own
        closed = current._replace(
            status=move_task(current.status, TaskMove.CLOSE),
            closed_at=now,
            updated_at=now,
            rest=rest,
        )
        project.tasks.save(closed)
        if project.active_task_id() == task.id:
            project.set_active(None)
    project.events.emit(TaskChanged(closed, "completed"))
    return closed


def _delete_records(project: Project, task: Task) -> Path:
    """Move the task's records to the trash, next to its workspace; return the directory."""
    workspace = workspace_of(project, task)
    named = workspace.trash if workspace is not None else None
    trash = project.layout.root / (named or f"trash/{task.id}")
    make_dirs(trash)
    records = project.task_layout(task.id).root
    if os.path.lexists(records):
        move_aside(records, trash / "task")
    project.events.emit(TaskChanged(task, "deleted"))
    return trash
