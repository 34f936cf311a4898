"""Finish what dead commands left half done, before the next one begins.

An act on a workspace leaves its intent in the registry while it runs. Whoever starts new work looks
for such intents, whichever task they are of: nobody should have to know that `siding doctor` exists
because the power failed during `siding task start`.
"""

from siding.app.place.locking import TaskBusy, holding_task
from siding.app.place.project import Project
from siding.errors import SidingError
from siding.ids import TaskId
from siding.storage.locks import FileLock


def recover_cut_off(project: Project) -> None:
    """Finish or undo every act on a workspace whose command is dead.

    An act still under way is left alone, and so is one that cannot be recovered now: it must not
    keep other tasks from working, and `siding doctor` says what is wrong with it.
    """
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
    """Recover the task's workspace if an act on it was cut off. The task's lock is held."""
    workspace = project.registry.of_task(task_id)
    if workspace is None or workspace.intent is None:
        return None
    from siding.app.life.workspaces import recover  # 5 ms, and hardly ever needed

    return recover(project, workspace)
