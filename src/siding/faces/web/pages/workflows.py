"""The pages of workflows: the runs and the scripts, one run, one agent of it, and dialogs."""

from typing import Any

from siding.faces.web.ask import Ask
from siding.faces.web.rendering import Page, escaped
from siding.faces.web.syntax import coloured
from siding.faces.web.workflows.rows import STATUS_TONES, agent_row
from siding.faces.web.workflows.values import (
    ONLY,
    SHOWN,
    WEIGHTS,
    RunQuery,
    head_values,
    run_values,
)
from siding.ground.errors import NotFound
from siding.sessions.shelf import store_of
from siding.workflows.acts.finding import named
from siding.workflows.acts.from_dashboard import RunAct, refuse_senseless
from siding.workflows.acts.people import questions_of
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


def act(ask: Ask) -> Page:
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
