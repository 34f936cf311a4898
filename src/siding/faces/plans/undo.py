"""Going back: what a rollback, an undo and a redo would do, and doing them."""

from collections.abc import Callable

from siding.faces.plans.plan import (
    GIT_SIDE,
    ActDone,
    ActPlan,
    ActRequest,
    counted_groups,
    grouped,
    listed,
    meanwhile,
    planned,
)
from siding.ground.errors import UsageError
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.restoring import rollback as rolling
from siding.record.restoring.rollback import quote_path
from siding.record.restoring.survey import Survey
from siding.undo.preview import coming
from siding.undo.undo import Undone, UndoRequest, redo, undo


def plan_rollback(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    if not wish.step:
        raise UsageError("step is missing")
    with rolling.preview(project, _rollback_request(task_id, wish)) as survey:
        target = survey.destination.name
        return survey_plan("rollback", f"Go back to {target}", target, survey, wish)


def _rollback_request(task_id: TaskId, wish: ActRequest) -> rolling.RollbackRequest:
    step = None if wish.step == "base" else wish.step
    return rolling.RollbackRequest(step=step, task=task_id, hard=wish.hard, force=wish.force)


def survey_plan(act: str, title: str, target: str, survey: Survey, wish: ActRequest) -> ActPlan:
    """Return what a restoration would do, as a plan."""
    blocked = [quote_path(path) for path in survey.blocked]
    concerns = list(survey.concerns)
    if blocked:
        concerns.append("files in the way are in no snapshot; they are moved into the trash")
    groups = [
        grouped("written", "write", [quote_path(each.path) for each in survey.plan.writes]),
        grouped("deleted", "delete", [quote_path(each.path) for each in survey.plan.deletes]),
        grouped(
            "given other permissions",
            "write",
            [
                f"{quote_path(each.path)} ({each.before:04o} to {each.after:04o})"
                for each in survey.plan.chmods
            ],
        ),
        grouped(GIT_SIDE, "write", [": ".join(each) for each in survey.git_lines]),
        grouped("moved into the trash", "trash", [quote_path(path) for path in survey.aside]),
        grouped("in the way", "stop", blocked),
        grouped(
            "left alone",
            "leave",
            [f"{quote_path(each.path)} ({each.why.value})" for each in survey.plan.left],
        ),
    ]
    found = planned(
        act,
        title,
        "the workspace is in that state already"
        if survey.nothing_to_do
        else counted_groups(groups),
        groups,
        notes=survey.git.notes if survey.git else (),
        stops=tuple(f"{each}; {each.way_out}" for each in survey.stuck),
        concerns=() if wish.force else tuple(concerns),
        nothing=survey.nothing_to_do,
    )
    return found._replace(target=target)


def plan_undo(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    with coming(project, task_id, wish.act) as found:
        title = f"{wish.act.capitalize()}: {found.what}"
        if found.survey is None:
            return planned(wish.act, title, found.what, [])._replace(target=found.what)
        plan = survey_plan(wish.act, title, found.what, found.survey, wish._replace(force=True))
        if plan.nothing:  # it is done all the same: only then comes what is before it
            same = f"no file changes; the next {wish.act} is about what came before it"
            return plan._replace(nothing=False, sentence=same)
        return plan


def do_rollback(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = rolling.rollback(project, _rollback_request(task_id, wish))
    where = done.survey.destination.name
    said = f"back to {where}{meanwhile(project, done.restored.step)}"
    return ActDone(said, done.restored.step.id)


def do_undo(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    act: Callable[[Project, UndoRequest], Undone] = undo if wish.act == "undo" else redo
    done = act(project, UndoRequest(task=task_id, force=wish.force))
    step = done.restored.step if done.restored is not None else done.applied
    if step is None:
        return ActDone(done.what, None)
    return ActDone(f"{done.what}{meanwhile(project, step)}", step.id)


def told_rollback(named: str, wish: ActRequest, shown: ActPlan) -> str:
    return listed(
        f"roll {named} back to {shown.target}",
        "moving ignored files into the trash" if wish.hard else "",
        "whatever is in the way" if wish.force else "",
    )


def told_undo(named: str, wish: ActRequest, shown: ActPlan) -> str:
    forced = "whatever is in the way" if wish.force else ""
    return listed(f"{wish.act} in {named}: {shown.target}", forced)
