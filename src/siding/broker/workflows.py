"""Workflows that a run starts: in the background, in the run's own task, no freer than the run.

The process that works on the workflow is no part of the run, and goes on when the run has ended.
From a sandboxed run its agents are sandboxed, too. A script of the repository that nobody has
allowed is refused: an agent allows nothing.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from siding.broker.desk import Desk
from siding.broker.request import BadRequest, Request
from siding.ground.errors import NotFound, SidingError
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.capture import start
from siding.ground.process.command import MARK_VARIABLE, TOKEN_VARIABLE
from siding.record.ledger.intents import Intents
from siding.workflows.acts.control import request as control
from siding.workflows.acts.request import ResumeRequest, WorkflowOptions, workflow_args
from siding.workflows.acts.run import Prepared, WorkflowRequest, folders, prepare, prepare_again
from siding.workflows.acts.scripts import FoundScript, at, inline, named
from siding.workflows.acts.views import RunView, run_view, run_views, workflow_views
from siding.workflows.script import MAX_SOURCE_BYTES

_OF_THE_RUN = {
    TOKEN_VARIABLE,
    MARK_VARIABLE,
    SOCKET_VARIABLE,
    "SIDING_TASK_ID",
    "SIDING_RUN_ID",
    "SIDING_WORKSPACE",
}
_MOST_RUNS = 8  # of workflows that live at once in a task, started from inside
_LOOK_S = 0.02
_SUMMARY = 500  # characters of a result


def workflow(desk: Desk, request: Request) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Carry out ``{"do": "workflow", "act": …}``; return the answer and what is recorded of it."""
    act = request.text("act", most=20, needed=True)
    found = _ACTS.get(act)
    if found is None:
        raise BadRequest(f"workflow: there is no act {act[:20]!r}", hint=", ".join(sorted(_ACTS)))
    return found(desk, request)


def _run(desk: Desk, request: Request) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    project = desk.project
    resumed = request.text("resume", most=128)
    _refuse_many(desk)
    if resumed:
        source = request.text("script", most=MAX_SOURCE_BYTES) or None
        _own_run(desk, resumed)
        prepared = prepare_again(project, resumed, ResumeRequest(source=source))
        prepared = prepared._replace(options=_no_freer(desk, prepared.options))
    else:
        options = WorkflowOptions(max_concurrency=_slots(request))
        prepared = prepare(
            project,
            WorkflowRequest(
                found=_script(desk, request),
                args=workflow_args(request.fields.get("args")),
                task=desk.task.id,
                options=_no_freer(desk, options),
            ),
        )
    _begin(desk, prepared)
    answer = {
        "run_id": prepared.folder.run_id,
        "workflow": prepared.name,
        "task": desk.task.name,
        "warnings": [str(problem) for problem in prepared.script.warnings],
    }
    return answer, {"run_id": prepared.folder.run_id}


def _status(desk: Desk, request: Request) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    run_id = request.text("run", most=128, needed=True)
    try:
        view = _own_run(desk, run_id)
    except NotFound:
        return {"found": False, "run_id": run_id}, {}
    state = view.state
    answer = {"found": True, **state.fields(), "tokens": state.tokens}
    if state.value is not None:
        answer["summary"] = _summary(state.value)
    return answer, {"run_id": state.run_id, "status": str(state.status)}


def _cancel(desk: Desk, request: Request) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    view = _own_run(desk, request.text("run", most=128, needed=True))
    agent = request.fields.get("agent")
    if agent is not None and (isinstance(agent, bool) or not isinstance(agent, int)):
        raise BadRequest("workflow: 'agent' must be a number")
    hit = control(view.folder, "kill", agent)
    brief = {"run_id": view.state.run_id, "hit": hit}
    return {"hit": hit, "target": "run" if agent is None else "agent", "supported": True}, brief


def _list(desk: Desk, request: Request) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    del request
    scripts = [
        {"name": view.name, "description": view.description, "problem": view.problem}
        for view in workflow_views(desk.project)
    ]
    runs = [
        {"run_id": view.state.run_id, "workflow": view.state.name, "status": view.state.status}
        for view in run_views(desk.project, limit=50)
        if view.state.task == desk.task.id
    ]
    return {"workflows": scripts, "runs": runs}, {}


_ACTS = {"run": _run, "status": _status, "cancel": _cancel, "list": _list}


def _script(desk: Desk, request: Request) -> FoundScript:
    """Return the script that is meant: a text goes before a path, a path before a name."""
    source = request.text("script", most=MAX_SOURCE_BYTES)
    if source:
        return inline(source)
    if path := request.text("script_path", most=4096):
        return at(desk.project, os.path.join(desk.workspace, path), anywhere=False)
    if name := request.text("name", most=255):
        return named(desk.project, name)
    raise BadRequest("workflow: one of script, name, or script_path must be provided")


def _own_run(desk: Desk, run_id: str) -> RunView:
    """Return a run of the task that asks. Raises NotFound for any other."""
    view = run_view(desk.project, run_id)
    if view.record is None or view.record.task != desk.task.id:
        raise NotFound(f"there is no run {run_id!r} in this task")
    return view


def _refuse_many(desk: Desk) -> None:
    live = [
        folder
        for folder in folders(desk.project).all()
        if folder.is_live() and folder.record().task == desk.task.id
    ]
    if len(live) >= _MOST_RUNS:
        raise SidingError(
            f"{len(live)} workflows of this task are at work already",
            hint="wait until one has ended; {do: workflow, act: status} tells",
        )


def _no_freer(desk: Desk, options: WorkflowOptions) -> WorkflowOptions:
    """Return the options with a sandbox if the run that asks has one."""
    return options._replace(sandbox=True) if _is_sandboxed(desk) else options


def _is_sandboxed(desk: Desk) -> bool:
    """Tell whether the run that asks has a sandbox; a run of which nothing is known counts so."""
    for intent in Intents(desk.layout).all():
        detail = intent.draft.as_run
        if detail is not None and detail.run == desk.run.id:
            return detail.sandbox is not None and bool(detail.sandbox.engine)
    return True


def _slots(request: Request) -> int | None:
    wanted = request.fields.get("max_concurrency")
    if wanted is None:
        return None
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= 16:
        raise BadRequest("workflow: 'max_concurrency' is 1 to 16")
    return wanted


def _begin(desk: Desk, prepared: Prepared) -> None:
    """Start the process that works on a run, and wait until it has the run.

    It is no part of the run that asked for it. Raises SidingError if it ends before.
    """
    project = desk.project
    env = {name: value for name, value in project.app.env.items() if name not in _OF_THE_RUN}
    words = ["-C", str(project.paths.root), "-q", "__workflow", prepared.folder.run_id]
    if prepared.options.sandbox:
        words.append("--sandbox")
    process = start(
        [sys.executable, "-m", "siding", *words],
        env={**env, "SIDING_HOME": str(project.app.home.root)},
        cwd=project.layout.root,
    )
    while not prepared.folder.is_live() and not process.has_ended():
        desk.idle(_LOOK_S)
    if process.has_ended() and not prepared.folder.state_json.exists():
        raise SidingError(
            f"the process of the workflow ended at once (run {prepared.folder.run_id})",
            hint=f"`siding workflow resume {prepared.folder.run_id}` says why",
        )


def _summary(value: Any) -> str:
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:_SUMMARY]
