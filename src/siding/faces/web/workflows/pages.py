"""The pages of workflows, and acts on their runs: the scripts, a run, an agent of it, dialogs."""

from typing import Any

from siding.asking.answer import CodeNeeded
from siding.faces.web.rendering import Page, escaped
from siding.faces.web.request import Ask, Fields
from siding.faces.web.syntax import coloured
from siding.faces.web.text import quoted
from siding.faces.web.workflows.values import (
    ONLY,
    SHOWN,
    STATUS_TONES,
    WEIGHTS,
    RunQuery,
    agent_row,
    head_values,
    run_values,
)
from siding.ground.errors import NotFound, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.sessions.shelf import store_of
from siding.workflows.acts.from_dashboard import RunAct, do_act, refuse_senseless
from siding.workflows.acts.people import questions_of
from siding.workflows.acts.scripts import named
from siding.workflows.acts.views import RunSummary, RunView, run_view, workflow_views

RUNS_SHOWN = 50
_MOST_AGENTS = 100_000


def listed(ask: Ask) -> Page:
    """Show the runs of workflows, and the workflows there are."""
    runs = ask.site.workflow_runs.all(ask.project)
    limit = ask.number("shown", RUNS_SHOWN, most=10_000)
    names = _task_names(ask)
    values = {
        "runs": [_listed_run(each, names) for each in runs[:limit]],
        "more": max(0, len(runs) - limit),
        "next": limit * 3,
        "scripts": workflow_views(ask.project),
    }
    return Page("workflows.html", "Workflows", values)


def one(ask: Ask) -> Page:
    """Show a run: its phases and agents, its timeline, how it ended."""
    view = one_run(ask)
    state = view.state
    query = RunQuery(
        only=ask.choice("only", *ONLY),
        by=ask.choice("by", *WEIGHTS),
        shown=ask.number("shown", SHOWN, most=_MOST_AGENTS),
    )
    values = {
        **run_values(state, query, int(ask.project.app.clock.now().timestamp() * 1000)),
        "task_name": _task_names(ask).get(state.task, ""),
        "questions": questions_of(ask.project, state.run_id) if state.waits else [],
        "record": view.record,
        "in_parts": query._replace(by="tokens") == RunQuery(),
        "sessions": _sessions(ask),
    }
    return Page("workflow.html", f"{state.name} {state.run_id}", values, watch="")


def agent(ask: Ask) -> Page:
    """Show one agent of a run: what it was asked, what came of it, where its work is."""
    state = one_run(ask).state
    wanted = ask.words["agent"]
    found = next((each for each in state.agents if str(each.id) == wanted), None)
    if found is None:
        raise NotFound(f"the run has no agent #{wanted[:20]}")
    values = {
        **head_values(state, RunQuery()),
        "row": agent_row(found, state),
        "task_name": _task_names(ask).get(found.work.task or state.task, ""),
        "sessions": _sessions(ask),
    }
    return Page("workflow_agent.html", f"{found.name} · {state.name}", values, watch="")


def act_form(ask: Ask) -> Page:
    """Show the form with which a person says what is done to a run, or to an agent of it."""
    view = one_run(ask)
    wanted = RunAct(ask.choice("act", *(each.value for each in RunAct)))
    agent_id = ask.number("agent", 0) if ask.query.get("agent") else None
    refuse_senseless(view, wanted, agent_id)
    names = {each.id: each.name for each in view.state.agents}
    values = {
        "run": view.state,
        "act": wanted.value,
        "agent": agent_id,
        "agent_name": "" if agent_id is None else names[agent_id],
        "running": view.state.counted("running"),
    }
    return Page("workflow_act.html", "", values)


def script(ask: Ask) -> Page:
    """Show the script of a workflow that has a name."""
    found = named(ask.project, ask.query.get("name", ""))
    return _script_page(found.path, found.source)


def script_of_run(ask: Ask) -> Page:
    """Show the script that a run began with, or was resumed with last."""
    view = one_run(ask)
    return _script_page(f"script of {view.state.run_id}", view.folder.source())


def one_run(ask: Ask) -> RunView:
    """Return the run that the path names by its whole id. Raises NotFound."""
    wanted = ask.words["run"]
    view = run_view(ask.project, wanted)
    if view.state.run_id != wanted:  # the command line takes the beginning of an id
        raise NotFound(f"there is no run {wanted[:40]!r}")
    return view


def _script_page(title: str, source: str) -> Page:
    lines = source.splitlines()
    html = coloured("script.py", lines) or [escaped(line) for line in lines]
    return Page("workflow_script.html", "", {"title": title, "lines": html})


def _listed_run(run: RunSummary, names: dict[str, str]) -> dict[str, Any]:
    return {"run": run, "tone": STATUS_TONES[run.status], "task_name": names.get(run.task, "")}


def _task_names(ask: Ask) -> dict[str, str]:
    return {task.id: task.name for task in ask.project.tasks.readable()}


def _sessions(ask: Ask) -> frozenset[str]:
    """Return the sessions that have a page."""
    return frozenset(store_of(ask.project).ids())


class _Wish(NamedTuple):
    """What is to be done to a run; `agent` is None for the run as a whole."""

    view: RunView
    act: RunAct
    agent: int | None

    @property
    def meaning(self) -> dict[str, Any]:
        """What a code is good for."""
        return {"run": self.view.state.run_id, "act": self.act.value, "agent": self.agent}


def listed_json(ask: Ask) -> dict[str, Any]:
    """Return the runs, in the order of the page, and the workflows that have a name."""
    return {
        "runs": [each._asdict() for each in ask.site.workflow_runs.all(ask.project)],
        "workflows": [each._asdict() for each in workflow_views(ask.project)],
    }


def one_json(ask: Ask) -> dict[str, Any]:
    """Return a run with its agents, as its state has it."""
    state = one_run(ask).state
    return {**state.fields(), "status": state.status.value}


def code(ask: Ask, fields: Fields) -> dict[str, Any]:
    """Show the code of an act on a run in the terminal."""
    wish = _wish_from(ask, fields)
    ask.site.nonces.ask("workflow", wish.meaning, told=_told(ask, wish))
    return {"shown": True}


def act(ask: Ask, fields: Fields) -> dict[str, Any]:
    """End a run, control an agent of it, or go on with it: with a code, or a signature."""
    typed = fields.text("code", "", longest=20)
    wish = _wish_from(ask, fields)
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


def _wish_from(ask: Ask, fields: Fields) -> _Wish:
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
