"""The acts of the page that change files: what they would do, their code, and doing them.

The page needs a code from the terminal, see `nonces`. The acts themselves are in `faces/plans`.
"""

from typing import Any

from siding.applying.apply import Mode
from siding.faces.plans.acts import ACTS, carry_out, plan, shown_plan
from siding.faces.plans.plan import ActRequest
from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask, Fields
from siding.ground.errors import UsageError


def plan_page(ask: Ask) -> Page:
    """Show what an act would do, before a person carries it out."""
    wish = ActRequest(
        act=ask.choice("act", "rollback", *(each for each in ACTS if each != "rollback")),
        step=ask.query.get("step", ""),
        hard=ask.query.get("hard") == "1",
        force=ask.query.get("force") == "1",
        mode=ask.choice("mode", *(mode.value for mode in Mode)),
        close=ask.query.get("stay") != "1",
        keep=ask.query.get("keep") == "1",
    )
    if len(wish.step) > 20:
        raise UsageError("step must be a step's number, or base")
    task_id = ask.task_id
    values = {
        "plan": plan(ask.project, task_id, wish),
        "wish": wish,
        "fields": {name: value for name, value in wish._asdict().items() if name != "argv"},
        "task_id": task_id,
        "modes": [mode.value for mode in Mode],
    }
    return Page("plan.html", "", values)


def plan_json(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Return what an act would do; nothing is changed."""
    wish = wish_from(fields)
    fields.done()
    return plan(ask.project, ask.task_id, wish).record()


def code(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Show the code of an act in the terminal; raise NotPossible if it cannot be done."""
    wish, digest = wish_from(fields), fields.text("digest", longest=64)
    fields.done()
    task_id = ask.task_id
    shown = shown_plan(ask.project, task_id, wish, digest)
    task = ask.project.tasks.load(task_id)
    said = ACTS[wish.act].told(f"task {task.id} ({task.name})", wish, shown)
    ask.site.nonces.ask(wish.act, _means(task_id, wish, digest), told=said)
    return {"shown": True}


def act(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Carry out the plan with this digest; this needs its code."""
    wish, digest = wish_from(fields), fields.text("digest", longest=64)
    typed = fields.text("code", longest=20)
    fields.done()
    task_id = ask.task_id
    ask.site.nonces.spend(wish.act, _means(task_id, wish, digest), typed)
    done = carry_out(ask.project, task_id, wish, digest)
    return {"said": done.said, "step": done.step}


def wish_from(fields: Fields) -> ActRequest:
    """Return the act that a body asks for."""
    return ActRequest(
        act=fields.choice("act", *ACTS),
        step=fields.text("step", "", longest=20),
        hard=fields.flag("hard"),
        force=fields.flag("force"),
        mode=fields.choice("mode", *(mode.value for mode in Mode)),
        onto=fields.text("onto", "", longest=255),
        message=fields.text("message", ""),
        close=not fields.flag("stay_open"),
        keep=fields.flag("keep"),
    )


def _means(task_id: str, wish: ActRequest, digest: str) -> dict[str, Any]:
    return {"task": task_id, "digest": digest, **wish.means()}
