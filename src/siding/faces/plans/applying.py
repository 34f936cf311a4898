"""Applying a task: what that would do, and doing it."""

from siding.applying.apply import ApplyRequest, Mode, WouldPublish
from siding.applying.apply import apply as apply_task
from siding.applying.apply import preview as apply_preview
from siding.faces.plans.plan import (
    SHOWN,
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

_UNSEEN = "a run left files for other programs to run, and nobody has seen them yet"


def plan_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    try:
        return _preview_apply(project, task_id, wish)
    except WouldPublish as refused:
        sentence = "the change cannot be applied this way"
        return planned("apply", "Apply", sentence, [], stops=(refused.message, refused.hint or ""))


def _preview_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    with apply_preview(project, _apply_request(task_id, wish)) as (_task, found, _bench):
        where = found.target.branch or "your checkout"
        groups = [
            grouped(
                f"changed on {where}",
                "write",
                [f"{each.status} {quote_path(each.path)}" for each in found.stat.per_file],
            ),
            grouped(
                "in conflict",
                "stop",
                [f"{quote_path(each.path)} ({each.kind})" for each in found.conflicts],
            ),
            grouped("changed by you too", "stop", [quote_path(p) for p in found.overlaps.all]),
            grouped(
                "left out",
                "leave",
                [f"{quote_path(each.path)} ({each.why})" for each in found.left_out],
            ),
            grouped(
                "run later by other programs",
                "write",
                [f"{each.path} ({each.by}, {each.when})" for each in found.traps],
            ),
            grouped(
                "of commits that were gone back from, left out",
                "leave",
                [f"{each.sha[:10]} {each.subject}" for each in found.gone_back],
            ),
        ]
        stops = []
        if found.conflicts:
            stops.append(
                f"the task and {where} disagree; `siding apply --resolve` brings both "
                "sides into the workspace"
            )
        if found.overlaps.all:
            stops.append("your own uncommitted changes are in the way; they are not touched")
        stat = found.stat
        commits = counted(len(found.commits), "commit") if found.commits else "the files"
        sentence = f"{commits} onto {where}: +{stat.additions:,} -{stat.deletions:,}"
        if found.nothing_to_do:
            sentence = "nothing to apply" if found.unchanged else f"{where} has all of it already"
        made = planned(
            "apply",
            f"Apply to {where}",
            sentence,
            groups,
            notes=tuple(found.notes),
            concerns=(_UNSEEN,) if found.holds and not wish.force else (),
            stops=tuple(stops),
            nothing=found.nothing_to_do,
        )
        return made._replace(
            target=where,
            commits=tuple(each.subject for each in found.commits[:SHOWN]),
            digest=digest_of(
                [
                    found.target.sha,
                    found.tree,
                    found.wanted.mode.value,
                    [each.sha for each in found.gone_back],
                    [each.content for each in found.traps],
                    wish.force,
                ]
            ),
        )


def _apply_request(task_id: TaskId, wish: ActRequest) -> ApplyRequest:
    mode = Mode(wish.mode)
    return ApplyRequest(
        task=task_id,
        # None is `commit` too, but makes one commit where that would publish too much.
        mode=None if mode is Mode.COMMIT else mode,
        message=wish.message or None,
        onto=wish.onto or None,
        close=wish.close,
        seen=wish.force,
    )


def do_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = apply_task(project, _apply_request(task_id, wish))
    where = done.plan.target.branch or "your checkout"
    if done.step is None:
        return ActDone("nothing to apply", None)
    closed = "; the task is closed" if done.closed is not None else ""
    said = f"applied to {where}{closed}{meanwhile(project, done.step)}"
    return ActDone(said, done.step.id)


def told_apply(named: str, wish: ActRequest, shown: ActPlan) -> str:
    return listed(
        f"apply {named} to {shown.target} as {wish.mode}",
        f"with the message {wish.message[:60]!r}" if wish.message else "",
        "and close the task" if wish.close else "and leave the task open",
        "with what other programs will run" if wish.force else "",
    )
