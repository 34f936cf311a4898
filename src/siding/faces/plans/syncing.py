"""Bringing the moved base branch in: what that would do, and doing it."""

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
from siding.syncing.sync import How, SyncPlan, SyncRequest, preview, sync


def plan_sync(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    with preview(project, _request(task_id, wish)) as (task, found):
        branch = found.coming.branch
        groups = [
            grouped(
                "left in conflict in the workspace, to be resolved there",
                "stop",
                [f"{quote_path(each.path)} ({each.kind})" for each in found.conflicts],
            )
        ]
        sentence = f"{counted(found.coming.commits, 'commit')} of {branch} · {_how(found)}"
        if found.nothing_to_do:
            sentence = f"task {task.name} has all of {branch} already"
        made = planned(
            "sync",
            f"Bring {branch} in",
            sentence,
            groups,
            notes=found.notes,
            nothing=found.nothing_to_do,
        )
        commits = tuple(f"{each.sha[:10]} {each.subject}" for each in found.coming.newest)
        says = [found.coming.commit, found.head.how.value, found.side, found.files, wish.force]
        return made._replace(target=branch, commits=commits, digest=digest_of(says))


def _how(plan: SyncPlan) -> str:
    if plan.head.how is How.FAST_FORWARD:
        return "fast-forward: the task has no commits of its own"
    if plan.head.conflict is not None:
        return "a merge, left unfinished: the commits conflict"
    return "a merge"


def _request(task_id: TaskId, wish: ActRequest) -> SyncRequest:
    return SyncRequest(task=task_id, onto=wish.onto or None, force=wish.force)


def do_sync(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = sync(project, _request(task_id, wish))
    if done.restored is None:
        return ActDone(f"the task has all of {done.plan.coming.branch} already", None)
    step = done.restored.step
    conflicts = done.plan.conflicts
    left = f"; {counted(len(conflicts), 'path')} in conflict, to be resolved" if conflicts else ""
    return ActDone(f"{done.plan.coming.branch} brought in{left}{meanwhile(project, step)}", step.id)


def told_sync(named: str, wish: ActRequest, shown: ActPlan) -> str:
    return listed(f"bring {shown.target} into {named}", "moving obstacles" if wish.force else "")
