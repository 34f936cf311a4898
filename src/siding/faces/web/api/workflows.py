"""Operations of the API on workflows and their runs."""

from typing import Any

from siding.asking.answer import CodeNeeded
from siding.faces.web.api.reading import Fields
from siding.faces.web.ask import Ask
from siding.faces.web.pages.workflows import one_run
from siding.faces.web.quoting import quoted
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.workflows.acts.from_dashboard import RunAct, do_act, refuse_senseless
from siding.workflows.acts.views import RunView, workflow_views


class _Wish(NamedTuple):
    """What is to be done to a run; `agent` is None for the run as a whole."""

    view: RunView
    act: RunAct
    agent: int | None

    @property
    def meaning(self) -> dict[str, Any]:
        """What a code is good for."""
        return {"run": self.view.state.run_id, "act": self.act.value, "agent": self.agent}


def listed(ask: Ask) -> dict[str, Any]:
    """Return the runs, in the order of the page, and the workflows that have a name."""
    return {
        "runs": [each._asdict() for each in ask.site.workflow_runs.all(ask.project)],
        "workflows": [each._asdict() for each in workflow_views(ask.project)],
    }


def one(ask: Ask) -> dict[str, Any]:
    """Return a run with its agents, as its state has it."""
    state = one_run(ask).state
    return {**state.fields(), "status": state.status.value}


def code(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Show the code of an act on a run in the terminal."""
    wish = _wish(ask, fields)
    ask.site.nonces.ask("workflow", wish.meaning, told=_told(ask, wish))
    return {"shown": True}


def act(ask: Ask, fields: Fields) -> dict[str, Any]:
    """End a run, control an agent of it, or go on with it: with a code, or a signature."""
    typed = fields.text("code", "", longest=20)
    wish = _wish(ask, fields)
    if ask.device is None:
        if not typed:
            raise CodeNeeded(
                "the dashboard's key alone does nothing to a run of a workflow",
                hint="the page asks for the code that the terminal of `siding ui` shows, or a "
                "paired device signs",
            )
        ask.site.nonces.spend("workflow", wish.meaning, typed)
    do_act(ask.project, wish.view, wish.act, wish.agent)
    if ask.device is not None:
        ask.site.say(f"{ask.device.name}, a paired device, has signed: {_told(ask, wish)}")
    return {"run": wish.view.state.run_id, "act": wish.act.value}


def _wish(ask: Ask, fields: Fields) -> _Wish:
    """Return what the rest of a body asks for; raise UsageError, NotFound, or NothingToDo."""
    wanted = RunAct(fields.choice("act", *(each.value for each in RunAct)))
    agent = fields.number("agent")
    fields.done()
    if agent is None and wanted in (RunAct.SKIP, RunAct.RETRY):
        raise UsageError(f"{wanted} is for an agent: the field agent has its id")
    if agent is not None and wanted is RunAct.RESUME:
        raise UsageError("a run is resumed as a whole, without the field agent")
    view = one_run(ask)
    refuse_senseless(view, wanted, agent)
    return _Wish(view=view, act=wanted, agent=agent)


def _told(ask: Ask, wish: _Wish) -> str:
    state = wish.view.state
    names: dict[str, str] = {task.id: task.name for task in ask.project.tasks.readable()}
    run = f"the run {state.run_id} of workflow {quoted(state.name)}"
    task = f"{state.task} ({names.get(state.task, '')})"
    if wish.agent is None:
        return f"{wish.act} {run} in task {task}"
    named = next(each.name for each in state.agents if each.id == wish.agent)
    return f"{wish.act} agent #{wish.agent} {quoted(named)} of {run} in task {task}"
