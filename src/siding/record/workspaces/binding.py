"""Bind a workspace to a task, and carry a workspace over from one task to another.

The intent stands in the registry: first in the entry of the task that gives the workspace, with the
branch that is being made, so that it can be taken back. One write of the registry then carries the
workspace over. From there on the intent stands in the new owner's entry, and the act is finished.
"""

import os
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.ids import Sha, TaskId
from siding.record.place.events import WorkspaceChanged
from siding.record.place.locks import holding_git
from siding.record.place.project import Project
from siding.record.place.take_over import TAKEN_OVER
from siding.record.recording.anchoring import announce_base
from siding.record.snapshots.store_upkeep import remove_task
from siding.record.tasks.moves import TaskMove, WorkspaceMove, move_task, move_workspace
from siding.record.tasks.registry import BRANCH_MADE, MOVED_TO, Workspace
from siding.record.tasks.task import Task, TaskState, WorkspaceState
from siding.record.workspaces.attempts import payload_of
from siding.record.worktrees.branches import leave_branch

BIND = "bind"
ENTER = "enter"  # the workspace is there, and is not in the task's document yet


def bind(project: Project, task: Task, made: Workspace, base_ref: str, *, event: str) -> Task:
    """Store a workspace as that of the task, which becomes active if it was pending.

    `event` is how the event about it begins, for the case that this is cut off.
    """
    intent = {"op": ENTER, "base_ref": base_ref, "event": event, "at": project.app.now()}
    with project.changing(f"binding the workspace of task {task.id}"):
        announce_base(project, made, base_ref)
        project.registry.put(made._replace(intent={**intent, "pid": project.app.pid}))
        bound = _enter(project, task.id, made, base_ref)
        project.registry.put(made)
    return bound


def finish_entering(project: Project, workspace: Workspace) -> str:
    """Enter a workspace in its task's document, where that was cut off; return a phrase."""
    intent = workspace.intent or {}
    made = workspace._replace(intent=None)
    with project.changing(f"binding the workspace of task {workspace.task_id}"):
        task = _enter(project, workspace.task_id, made, str(intent.get("base_ref", "")))
        project.registry.put(made)
    how = f"{intent.get('event', 'create')}.after"
    about = payload_of(made)
    project.events.emit(WorkspaceChanged(workspace.task_id, how, about, task=task, recovered=True))
    return f"finished binding the workspace of task {workspace.task_id}"


def carry_over(project: Project, old: Workspace, new: Workspace, base_ref: str) -> Task:
    """Give the workspace `old` to the task of `new`, as `new` describes it; return that task.

    The caller holds the locks of both tasks. The old task is left without a workspace; reopening it
    makes one from its last snapshot.
    """
    now = project.app.now()
    intent = {"op": BIND, "from": old.task_id, "base_ref": base_ref, "at": now}
    coming = new._replace(intent={**intent, "pid": project.app.pid})
    came_with_it = old.adopted and not old.rest.get(BRANCH_MADE)
    strange = {TAKEN_OVER: True} if came_with_it else {}  # the branch is not of our making
    gone = Workspace(
        name=old.name,
        path=str(_free_place(project, old)),
        branch=old.branch,
        task_id=old.task_id,
        status=move_workspace(old.status, WorkspaceMove.REMOVE),
        created_at=old.created_at,
        removed_at=now,
        base_commit=old.base_commit,
        base_snapshot=old.base_snapshot,
        rest={**old.rest, MOVED_TO: new.task_id, **strange},
    )
    with project.changing(f"binding a workspace to task {new.task_id}"):
        announce_base(project, coming, base_ref)
        project.registry.put(gone, coming)
    return finish_binding(project, coming)


def finish_binding(project: Project, coming: Workspace) -> Task:
    """Enter in both tasks who has the workspace. Safe to repeat after a crash at any point."""
    intent = coming.intent or {}
    made = coming._replace(intent=None)
    with project.changing(f"binding a workspace to task {coming.task_id}"):
        try:
            giver = project.tasks.load(TaskId(str(intent.get("from"))))
        except SidingError:  # deleted meanwhile, or its document is damaged: `doctor` says so
            pass
        else:
            without = giver._replace(
                worktree="",
                workspace_path="",
                updated_at=project.app.now(),
                rest={**giver.rest, MOVED_TO: coming.task_id},
            )
            project.tasks.save(without)
        task = _enter(project, coming.task_id, made, str(intent.get("base_ref", "")))
        project.registry.put(made)
    return task


def undo_binding(project: Project, giver: Workspace) -> None:
    """Take back a binding that was cut off before the workspace was carried over."""
    intent = giver.intent or {}
    reason = f"siding: taking back the binding to task {intent.get('to')}"
    with holding_git(project, reason):
        leave_branch(
            project.repository,
            Path(giver.git_dir),
            str(intent.get("branch")),
            giver.branch,
            reason=reason,
        )
    taker = TaskId(str(intent.get("to")))
    if project.ledger(taker).last() is None and project.workspaces.of_task(taker) is None:
        remove_task(project.snapshots, taker)
    with project.changing(f"taking back a binding of task {giver.task_id}"):
        project.registry.put(giver._replace(intent=None))


def recover_binding(project: Project, workspace: Workspace) -> str:
    """Finish or take back a binding that was cut off; return a phrase about it."""
    intent = workspace.intent or {}
    if "from" in intent:
        finish_binding(project, workspace)
        done = {**payload_of(workspace), "from": intent["from"]}
        project.events.emit(WorkspaceChanged(workspace.task_id, "bind.after", done, recovered=True))
        return f"finished binding a workspace to task {workspace.task_id}"
    undo_binding(project, workspace)
    project.events.emit(
        WorkspaceChanged(
            str(intent.get("to")),
            "bind.failed",
            {**payload_of(workspace), "from": workspace.task_id},
            error="it was cut off; the workspace is its task's as before",
            recovered=True,
        )
    )
    return f"left the workspace of task {workspace.task_id} with it"


def _enter(project: Project, task_id: TaskId, made: Workspace, base_ref: str) -> Task:
    """Enter a workspace in its task's document. The caller holds the project's lock."""
    current = project.tasks.load(task_id)
    status = current.status
    if status is TaskState.PENDING:
        status = move_task(status, TaskMove.START)
    bound = current._replace(
        status=status,
        base_ref=base_ref,
        base_commit=Sha(made.base_commit),
        branch=made.branch,
        workspace_path=os.path.relpath(made.path, project.app.home.root),
        worktree=made.name,
        updated_at=project.app.now(),
        rest={key: value for key, value in current.rest.items() if key != MOVED_TO},
    )
    project.tasks.save(bound)
    return bound


def _free_place(project: Project, old: Workspace) -> Path:
    """Return where the old task's next workspace can be: its usual place, if that is free."""
    taken = {
        each.path
        for each in project.registry.all()
        if each.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)
    }
    usual = project.layout.workspace(old.task_id)
    number, place = 1, usual
    while str(place) in taken or os.path.lexists(place):
        number += 1
        place = usual.with_name(f"{usual.name}-{number}")
    return place
