"""Recover acts on workspaces that were cut off, before a new command begins.

An act on a workspace keeps its intent in the registry while it runs. Commands that start new work
look for such intents in all tasks, so that nobody needs `siding doctor` just because the power
failed during `siding task start`.
"""

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.storage.locks import FileLock
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.tasks.task import TaskBusy


def recover_cut_off(project: Project) -> None:
    """Finish or undo every act on a workspace whose process has died.

    Acts in progress are left alone. If an act cannot be recovered, this only warns, because the
    failure must not stop work in other tasks; `siding doctor` gives the details.
    """
    if not project.workspaces.may_be_cut_off():
        return
    for workspace in project.registry.cut_off():
        if FileLock(project.task_layout(workspace.task_id).lock).is_locked():
            continue
        try:
            with holding_task(project, workspace.task_id, "finishing what was cut off"):
                recover_if_cut_off(project, workspace.task_id)
        except TaskBusy:
            continue
        except (SidingError, OSError) as error:
            project.app.warn(
                f"what was cut off in task {workspace.task_id} could not be finished: {error}; "
                "`siding doctor` says more"
            )


def recover_if_cut_off(project: Project, task_id: TaskId) -> str | None:
    """Recover the task's workspace if an act on it was cut off; return a phrase about it, or None.

    The caller holds the task's lock.
    """
    workspace = project.workspaces.of_task(task_id)
    if workspace is None or workspace.intent is None:
        return None
    from siding.record.workspaces.workspaces import recover  # 5 ms, and hardly ever needed

    return recover(project, workspace)
