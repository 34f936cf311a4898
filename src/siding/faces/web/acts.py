"""Acts that change files: carry out exactly the plan that the page has shown (`act_plans`).

The plan is made again before; if its digest differs, nothing is done. The page also needs a code
from the terminal, see `nonces`.
"""

from collections.abc import Callable, Mapping

from siding.applying.apply import apply as apply_task
from siding.faces.web.act_plans import ActPlan, ActRequest, apply_request, plan, rollback_request
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.back import rollback as rolling
from siding.record.back.restore_act import written_meanwhile
from siding.record.place.locks import TaskBusy
from siding.record.place.project import Project
from siding.record.recording.steps import Step
from siding.tasks.close import Fate, close_task
from siding.undo.undo import Undone, UndoRequest, redo, undo


class Changed(SidingError):
    """The plan that was shown is out of date. Nothing was done."""

    code = "changed"


class NotPossible(SidingError):
    """The plan that was shown cannot be carried out. Nothing was done."""

    code = "not_possible"


class ActDone(NamedTuple):
    """The result of an act: a sentence, and the id of the step that recorded it."""

    said: str
    step: str | None


def shown_plan(project: Project, task_id: TaskId, wish: ActRequest, digest: str) -> ActPlan:
    """Return the plan if it still has this digest.

    Raises Changed when it has another one, and NotPossible when it cannot be carried out.
    """
    now = plan(project, task_id, wish)
    if now.digest != digest:
        raise Changed("the plan has changed since it was shown", hint="look at it again")
    if now.stops or now.concerns or now.nothing:
        reason = [*now.stops, *now.concerns, now.sentence][0]
        raise NotPossible(f"this is not possible now: {reason}", hint="nothing was changed")
    return now


def carry_out(project: Project, task_id: TaskId, wish: ActRequest, digest: str) -> ActDone:
    """Carry out the plan with this digest. Raises Changed and NotPossible, like `shown_plan`."""
    shown_plan(project, task_id, wish, digest)
    try:
        return _ACTS[wish.act](project, task_id, wish)
    except TaskBusy as busy:  # its own hint names an option of the command line
        raise NotPossible(
            busy.message, hint="nothing was done; wait until that has ended"
        ) from busy


def told(named: str, wish: ActRequest, shown: ActPlan) -> str:
    """Return the act in words, for the line in the terminal that shows its code.

    `named` is the task, as that line names it.
    """
    match wish.act:
        case "rollback":
            return _listed(
                f"roll {named} back to {shown.target}",
                "moving ignored files into the trash" if wish.hard else "",
                "whatever is in the way" if wish.force else "",
            )
        case "apply":
            return _listed(
                f"apply {named} to {shown.target} as {wish.mode}",
                f"with the message {wish.message[:60]!r}" if wish.message else "",
                "and close the task" if wish.close else "and leave the task open",
                "with what other programs will run" if wish.force else "",
            )
        case "close":
            return _listed(
                f"close {named}",
                "keeping its workspace" if wish.keep else "its workspace into the trash",
                "with work that was not applied" if wish.force else "",
            )
        case _:
            forced = "whatever is in the way" if wish.force else ""
            return _listed(f"{wish.act} in {named}: {shown.target}", forced)


def _listed(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def _do_rollback(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = rolling.rollback(project, rollback_request(task_id, wish))
    where = done.survey.destination.name
    said = f"back to {where}{_meanwhile(project, done.restored.step)}"
    return ActDone(said, done.restored.step.id)


def _do_undo(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    act: Callable[[Project, UndoRequest], Undone] = undo if wish.act == "undo" else redo
    done = act(project, UndoRequest(task=task_id, force=wish.force))
    step = done.restored.step if done.restored is not None else done.applied
    if step is None:
        return ActDone(done.what, None)
    return ActDone(f"{done.what}{_meanwhile(project, step)}", step.id)


def _do_apply(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    done = apply_task(project, apply_request(task_id, wish))
    where = done.plan.target.branch or "your checkout"
    if done.step is None:
        return ActDone("nothing to apply", None)
    closed = "; the task is closed" if done.closed is not None else ""
    said = f"applied to {where}{closed}{_meanwhile(project, done.step)}"
    return ActDone(said, done.step.id)


def _meanwhile(project: Project, step: Step) -> str:
    """Return where the versions are that other programs wrote during an act; "" for none."""
    if not step.kept:
        return ""
    place = (project.layout.root / step.kept[0]).parent
    return f"; {written_meanwhile(len(step.kept))} {place}"


def _do_close(project: Project, task_id: TaskId, wish: ActRequest) -> ActDone:
    task = project.tasks.load(task_id)
    fate = Fate.KEEP if wish.keep else Fate.USUAL
    branch = close_task(project, task, fate=fate, force=wish.force).branch
    more = "" if branch is None else f"; {branch.sentence}"
    return ActDone(f"closed {task.name}{more}", None)


_ACTS: Mapping[str, Callable[[Project, TaskId, ActRequest], ActDone]] = {
    "rollback": _do_rollback,
    "undo": _do_undo,
    "redo": _do_undo,
    "apply": _do_apply,
    "close": _do_close,
}
