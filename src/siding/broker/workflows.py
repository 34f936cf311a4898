"""Workflows that a run starts: in the background, in the run's own task, no freer than the run.

The process that works on the workflow is no part of the run, and goes on when the run has ended.
From a sandboxed run its agents are sandboxed, too. A script of the repository that nobody has
allowed is refused: an agent allows nothing.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, assert_never

from siding.broker.desk import Desk
from siding.broker.messages import (
    AnyWorkflow,
    CancelWorkflow,
    ListWorkflows,
    LookAtWorkflow,
    StartWorkflow,
)
from siding.ground.errors import NotFound, SidingError
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.capture import start
from siding.ground.process.command import MARK_VARIABLE, TOKEN_VARIABLE
from siding.record.ledger.intents import Intents
from siding.workflows.acts.control import request as control
from siding.workflows.acts.request import ResumeRequest, WorkflowOptions, workflow_args
from siding.workflows.acts.run import Prepared, WorkflowRequest, prepare, prepare_again
from siding.workflows.acts.scripts import FoundScript, at, inline, named
from siding.workflows.acts.views import RunView, run_view, run_views, workflow_views
from siding.workflows.store import RunFolders

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


def workflow(desk: Desk, request: AnyWorkflow) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Carry out ``{"do": "workflow", "act": …}``; return the answer and what is recorded of it."""
    match request:
        case StartWorkflow():
            return _run(desk, request)
        case LookAtWorkflow():
            return _status(desk, request)
        case CancelWorkflow():
            return _cancel(desk, request)
        case ListWorkflows():
            return _list(desk)
        case _:
            assert_never(request)


def _run(desk: Desk, request: StartWorkflow) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    project = desk.project
    _refuse_many(desk)
    if request.resume:
        _own_run(desk, request.resume)
        again = ResumeRequest(source=request.script or None)
        prepared = prepare_again(project, request.resume, again)
        prepared = prepared._replace(options=_no_freer(desk, prepared.options))
    else:
        options = WorkflowOptions(max_concurrency=request.max_concurrency)
        prepared = prepare(
            project,
            WorkflowRequest(
                found=_script(desk, request),
                args=workflow_args(request.args),
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


def _status(desk: Desk, request: LookAtWorkflow) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    try:
        view = _own_run(desk, request.run)
    except NotFound:
        return {"found": False, "run_id": request.run}, {}
    state = view.state
    answer = {"found": True, **state.fields(), "tokens": state.tokens}
    if state.value is not None:
        answer["summary"] = _summary(state.value)
    return answer, {"run_id": state.run_id, "status": str(state.status)}


def _cancel(desk: Desk, request: CancelWorkflow) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    view, agent = _own_run(desk, request.run), request.agent
    hit = control(view.folder, "kill", agent)
    brief = {"run_id": view.state.run_id, "hit": hit}
    return {"hit": hit, "target": "run" if agent is None else "agent", "supported": True}, brief


def _list(desk: Desk) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
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


def _script(desk: Desk, request: StartWorkflow) -> FoundScript:
    """Return the script that is meant; the request has one of the three."""
    if request.script:
        return inline(request.script)
    if request.script_path:
        path = os.path.join(desk.workspace, request.script_path)
        return at(desk.project, path, anywhere=False)
    return named(desk.project, request.name)


def _own_run(desk: Desk, run_id: str) -> RunView:
    """Return a run of the task that asks. Raises NotFound for any other."""
    view = run_view(desk.project, run_id)
    if view.record is None or view.record.task != desk.task.id:
        raise NotFound(f"there is no run {run_id!r} in this task")
    return view


def _refuse_many(desk: Desk) -> None:
    live = [
        folder
        for folder in RunFolders.of(desk.project).all()
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
