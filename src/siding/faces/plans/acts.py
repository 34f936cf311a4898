"""Acts that change files: the table of them, and carrying out exactly the plan that was shown.

The plan is made again before; if its digest differs, nothing is done. What an act would do and how
it is done is in the module of its feature.
"""

from collections.abc import Callable, Mapping

from siding.faces.plans.again import (
    do_again,
    do_rewind,
    plan_again,
    plan_rewind,
    told_again,
    told_rewind,
)
from siding.faces.plans.applying import do_apply, plan_apply, told_apply
from siding.faces.plans.closing import do_close, plan_close, told_close
from siding.faces.plans.plan import ActDone, ActPlan, ActRequest
from siding.faces.plans.resolving import (
    do_give_up,
    do_resolve,
    plan_give_up,
    plan_resolve,
    told_give_up,
    told_resolve,
)
from siding.faces.plans.syncing import do_sync, plan_sync, told_sync
from siding.faces.plans.undo import (
    do_rollback,
    do_undo,
    plan_rollback,
    plan_undo,
    told_rollback,
    told_undo,
)
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.busy import TaskBusy, busy_with, held_by, live_in
from siding.record.place.project import Project
from siding.record.unfinished.left_running import in_the_way, to_pause


class Act(NamedTuple):
    """An act: what it would do now, doing it, and its words for the line with its code."""

    plan: Callable[[Project, TaskId, ActRequest], ActPlan]
    do: Callable[[Project, TaskId, ActRequest], ActDone]
    told: Callable[[str, ActRequest, ActPlan], str]


ACTS: Mapping[str, Act] = {
    "rollback": Act(plan_rollback, do_rollback, told_rollback),
    "undo": Act(plan_undo, do_undo, told_undo),
    "redo": Act(plan_undo, do_undo, told_undo),
    "apply": Act(plan_apply, do_apply, told_apply),
    "close": Act(plan_close, do_close, told_close),
}
# What only the terminal offers, besides.
ALL_ACTS: Mapping[str, Act] = {
    **ACTS,
    "sync": Act(plan_sync, do_sync, told_sync),
    "resolve": Act(plan_resolve, do_resolve, told_resolve),
    "give_up": Act(plan_give_up, do_give_up, told_give_up),
    "rewind": Act(plan_rewind, do_rewind, told_rewind),
    "retry": Act(plan_again, do_again, told_again),
}


class Changed(SidingError):
    """The plan that was shown is out of date. Nothing was done."""

    code = "changed"


class NotPossible(SidingError):
    """The plan that was shown cannot be carried out. Nothing was done."""

    code = "not_possible"


def plan(project: Project, task_id: TaskId, wish: ActRequest) -> ActPlan:
    """Return what the act would do now."""
    found = ALL_ACTS[wish.act].plan(project, task_id, wish)
    busy = busy_with(project, task_id) if wish.act == "close" else held_by(project, task_id)
    if busy:
        return found._replace(stops=(f"the task is busy: {busy}; wait until that has ended",))
    live = live_in(project, task_id)
    if wish.act == "close" and (left := in_the_way(project, task_id)):
        what = ", ".join(f"{each.run.id} (`siding stop {each.run.id}` ends it)" for each in left)
        return found._replace(stops=(f"something still runs that was left by {what}",))
    left = to_pause(project, task_id)
    if not (live or left) or wish.act == "apply":  # the plan of an apply says which state it takes
        return found
    named = ", ".join(
        (
            *(f"{run.id} `{run.title[:60]}`" for run in live),
            *(f"what {each.run.id} left running" for each in left),
        )
    )
    one = len(live) + len(left) == 1
    how = "is paused meanwhile, and goes on" if one else "are paused meanwhile, and go on"
    return found._replace(notes=(*found.notes, f"{named} {how}"))


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
        return ALL_ACTS[wish.act].do(project, task_id, wish)
    except TaskBusy as busy:  # its own hint names an option of the command line
        raise NotPossible(
            busy.message, hint="nothing was done; wait until that has ended"
        ) from busy
