"""Closing a task: what that would do, and doing it."""

from siding.faces.plans.plan import ActDone, ActPlan, ActRequest, listed, planned
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.recording.steps import log
from siding.tasks.close import Fate, close_task


def plan_close(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    task, steps = log(project, task_id, limit=1)
    workspace = project.registry.of_task(task_id)
    stays = wish.keep or (workspace is not None and workspace.adopted)
    last = steps[-1] if steps else None
    applied = last is not None and last.as_apply is not None
    concerns: tuple[str, ...] = ()
    if not (applied or stays or wish.force or last is None or last.snapshot is None):
        concerns = ("the workspace holds work that was not applied; it is put away too",)
    fate = "stays where it is" if stays else "is moved into the trash, whole"
    return planned(
        "close",
        f"Close {task.name}",
        f"the workspace {fate}; undo opens the task again",
        [],
        concerns=concerns,
    )


def do_close(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    task = project.tasks.load(task_id)
    fate = Fate.KEEP if wish.keep else Fate.USUAL
    branch = close_task(project, task, fate=fate, force=wish.force).branch
    more = "" if branch is None else f"; {branch.sentence}"
    return ActDone(f"closed {task.name}{more}", None)


def told_close(named: str, wish: ActRequest, _shown: ActPlan) -> str:
    return listed(
        f"close {named}",
        "keeping its workspace" if wish.keep else "its workspace into the trash",
        "with work that was not applied" if wish.force else "",
    )
