"""A conflict of an apply: both sides brought into the workspace, and that given up again."""

from siding.applying.apply import ApplyRequest, preview
from siding.applying.resolve import abort, resolve
from siding.applying.unresolved import merging
from siding.faces.plans.plan import (
    ActDone,
    ActPlan,
    ActRequest,
    digest_of,
    grouped,
    listed,
    meanwhile,
    planned,
)
from siding.ground.errors import counted
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.restoring.rollback import quote_path


def plan_resolve(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    request = ApplyRequest(task=task_id, onto=wish.onto or None)
    with preview(project, request) as (_task, found, _bench):
        where = found.target.branch
        conflicts = [f"{quote_path(each.path)} ({each.kind})" for each in found.conflicts]
        made = planned(
            "resolve",
            f"Bring the conflict with {where} into the workspace",
            f"{where} is merged into the workspace, {counted(len(conflicts), 'path')} in conflict"
            if conflicts
            else f"the task and {where} do not disagree",
            [grouped("in conflict, with both sides marked", "write", conflicts)],
            nothing=not conflicts,
        )
        return made._replace(target=where, digest=digest_of([found.target.sha, conflicts]))


def do_resolve(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = resolve(project, ApplyRequest(task=task_id, onto=wish.onto or None))
    many = counted(len(done.conflicts), "path")
    said = f"{done.branch} merged into the workspace, {many} to be resolved"
    return ActDone(f"{said}{meanwhile(project, done.step)}", done.step.id)


def told_resolve(named: str, _wish: ActRequest, shown: ActPlan) -> str:
    return listed(f"bring the conflict of {named} with {shown.target} into its workspace")


def plan_give_up(project: Project, task_id: TaskId, _wish: ActRequest) -> ActPlan:
    found = merging(project, task_id)
    if found is None:
        return planned(
            "give_up", "Give the merge up", "no merge is being resolved", [], nothing=True
        )
    made = planned(
        "give_up",
        f"Give the merge with {found.branch} up",
        f"the workspace goes back to the state before step {found.step}",
        [],
        notes=("what was resolved since is kept as a step; undo brings it back",),
    )
    return made._replace(target=found.branch)


def do_give_up(project: Project, task_id: TaskId, _wish: ActRequest) -> ActDone:
    step = abort(project, task_id)
    return ActDone(f"the workspace is as before the merge{meanwhile(project, step)}", step.id)


def told_give_up(named: str, _wish: ActRequest, shown: ActPlan) -> str:
    return listed(f"give the merge of {named} with {shown.target} up")
