"""Operations of the API that change something, and those that prepare an act."""

from typing import Any

from siding.applying.apply import Mode
from siding.faces.web.act_plans import ACTS, ActRequest
from siding.faces.web.act_plans import plan as plan_act
from siding.faces.web.acts import carry_out, shown_plan, told
from siding.faces.web.api.reading import Fields
from siding.faces.web.ask import Ask
from siding.tasks.changes import switch as switch_task
from siding.tasks.start import StartRequest
from siding.tasks.start import start as start_task


def start(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Start a task."""
    request = StartRequest(
        name=fields.text("name", longest=200),
        base=fields.text("base", "", longest=255) or None,
        description=fields.text("description", "") or None,
        workspace=not fields.flag("plan_only"),
        switch=fields.flag("switch"),
    )
    fields.done()
    task = start_task(ask.project, request).task
    return _task(task.id, task.name, task.status.value, task.branch)


def switch(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Make a task the active one."""
    fields.done()
    task = switch_task(ask.project, ask.task_id).task
    return _task(task.id, task.name, task.status.value, task.branch)


def plan(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Return what an act would do; nothing is changed."""
    wish = wish_from(fields)
    fields.done()
    return plan_act(ask.project, ask.task_id, wish).record()


def code(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Show the code of an act in the terminal; raise NotPossible if it cannot be done."""
    wish, digest = wish_from(fields), fields.text("digest", longest=64)
    fields.done()
    task_id = ask.task_id
    shown = shown_plan(ask.project, task_id, wish, digest)
    task = ask.project.tasks.load(task_id)
    said = told(f"task {task.id} ({task.name})", wish, shown)
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


def _task(task_id: str, name: str, status: str, branch: str) -> dict[str, Any]:
    return {"id": task_id, "name": name, "status": status, "branch": branch}
