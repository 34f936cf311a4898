"""What a run may ask its broker, and how each request is carried out."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, assert_never

from siding.agents.table import ANY
from siding.asking.lookup import open_questions
from siding.broker.desk import Desk
from siding.broker.messages import (
    REQUESTS,
    VERSION,
    AnyAct,
    AnyLook,
    AskRequest,
    CancelWorkflow,
    CheckpointRequest,
    CheckRequest,
    EventsRequest,
    HelloRequest,
    ListWorkflows,
    LookAtWorkflow,
    MoveRequest,
    NoteRequest,
    PatchRequest,
    ReportRequest,
    Request,
    StartWorkflow,
    StatusRequest,
    StepsRequest,
    TurnsRequest,
)
from siding.broker.questions import ask_person, collect
from siding.broker.reports import report
from siding.feed.short import short_status
from siding.ground.namedtuples import NamedTuple
from siding.guard.in_force import is_judged
from siding.guard.views import as_record, check_in
from siding.phases.moves import PhaseRequest, move, moved_as_record
from siding.phases.phases import status as phase_status
from siding.record.ledger.turns import reported_turns
from siding.running.checkpoint import TurnWords, record_turn
from siding.running.news import went_back

Result = Mapping[str, Any]


class Answered(NamedTuple):
    """What a request came to. `brief` is what the run's record has of it.

    `delivered` is called when whoever asked has read the answer.
    """

    result: Result
    brief: Result = MappingProxyType({})
    delivered: Callable[[], None] | None = None


def answer(desk: Desk, request: Request) -> Answered | Iterator[Result]:
    """Carry out a request; return its result, or what it tells from time to time.

    Raises SidingError if it is refused or fails.
    """
    match request:
        case HelloRequest() | StatusRequest() | TurnsRequest() | CheckRequest():
            return _looked(desk, request)
        case StepsRequest() | PatchRequest():
            return _looked(desk, request)
        case AskRequest() | MoveRequest() | CheckpointRequest() | NoteRequest() | ReportRequest():
            return _done(desk, request)
        case StartWorkflow() | LookAtWorkflow() | CancelWorkflow() | ListWorkflows():
            # Imported here: few runs start workflows, and each request would pay for it.
            from siding.broker.workflows import workflow

            return Answered(*workflow(desk, request))
        case EventsRequest():
            from siding.broker.steps import happenings  # as above

            return happenings(desk)
        case _:
            assert_never(request)


def _looked(desk: Desk, request: AnyLook) -> Answered:
    match request:
        case HelloRequest():
            return _hello(desk)
        case StatusRequest():
            return _status(desk)
        case TurnsRequest():
            return _turns(desk, request)
        case CheckRequest():
            return _check(desk, request)
        case StepsRequest():
            from siding.broker.steps import steps  # as above

            return Answered(steps(desk, request))
        case PatchRequest():
            from siding.broker.steps import patch  # as above

            return Answered(patch(desk, request))
        case _:
            assert_never(request)


def _done(desk: Desk, request: AnyAct) -> Answered:
    match request:
        case AskRequest():
            return _ask(desk, request)
        case MoveRequest():
            return _move(desk, request)
        case CheckpointRequest():
            return _checkpoint(desk, request)
        case NoteRequest():
            return Answered({"noted": True})
        case ReportRequest():
            noted = report(desk, request)
            return Answered(noted.answer._asdict(), noted.brief)
        case _:
            assert_never(request)


def _hello(desk: Desk) -> Answered:
    return Answered(
        {
            "version": VERSION,
            "run": desk.run.id,
            "task": desk.task.id,
            "requests": list(REQUESTS),
        }
    )


def _status(desk: Desk) -> Answered:
    project, task = desk.project, desk.task
    phase = phase_status(project, task.id)
    figures = short_status(project, task.id)
    last = project.ledger(task.id).last()
    return Answered(
        {
            "project": project.layout.root.name,
            "task": {"id": task.id, "name": task.name, "status": task.status.value},
            "run": desk.run.id,
            "workspace": str(desk.workspace),
            "base": task.base_ref,
            "phase": None if phase is None else {"phase": phase.phase, "step": phase.step},
            "last_step": None if last is None else last.id,
            "policy": is_judged(project, desk.run.agent or ANY),
            "runs": figures.runs,
            "questions": [each.session_id for each in open_questions(project, task.id)],
        }
    )


def _turns(desk: Desk, request: TurnsRequest) -> Answered:
    """Tell which turns of a conversation stand; nothing if no state was gone back to since."""
    since = request.since
    ledger = desk.project.ledger(desk.task.id)
    newest = ledger.last()
    number = 0 if newest is None else newest.number
    if since is not None and not went_back(ledger.newest_first(), since):
        return Answered({"step": number, "turns": None})
    told = [
        {"turn": each.detail.turn, "stands": each.stands}
        for each in reported_turns(ledger.steps())
        if each.detail.session == request.session
    ]
    return Answered({"step": number, "turns": told}, {"turns": len(told)})


def _check(desk: Desk, request: CheckRequest) -> Answered:
    cwd = _inside(desk, request.cwd)
    found = as_record(check_in(desk.project, desk.workspace, cwd, request.command))
    return Answered(found, {"action": found["action"]})


def _inside(desk: Desk, wanted: str) -> Path:
    """Return the directory that is wanted if it is in the workspace, else the workspace."""
    path = Path(os.path.realpath(desk.workspace / wanted))
    root = Path(os.path.realpath(desk.workspace))
    return path if path.is_relative_to(root) and path.is_dir() else root


def _ask(desk: Desk, request: AskRequest) -> Answered:
    decision = ask_person(desk, request)
    session = decision["session"]
    delivered = None
    if decision["state"] == "answered":

        def delivered() -> None:
            collect(desk, session)

    brief = {"session": session, "state": decision["state"]}
    return Answered(decision, brief, delivered)


def _move(desk: Desk, request: MoveRequest) -> Answered:
    asked = PhaseRequest(
        move=request.move,
        summary=request.summary,
        target=request.phase,
        task=desk.task.id,
        again=request.again,
        wait=True,
    )
    done = move(desk.project, asked)
    result = {**moved_as_record(done), "name": done.task.name}
    brief = {"phase": done.entry.phase, "step": done.entry.step}
    return Answered(result, brief)


def _checkpoint(desk: Desk, request: CheckpointRequest) -> Answered:
    message = request.message
    turn = record_turn(
        desk.project,
        desk.task.id,
        desk.run.id,
        "asked",
        TurnWords(message),
        only_if_changed=not message,
    )
    made = turn.step
    if made is None:
        return Answered({"task": desk.task.name, "step": None, "line": None})
    result = {
        "task": desk.task.name,
        "step": made.id,
        "message": made.message,
        "files": made.files,
        "line": dict(made.line),
    }
    return Answered(result, {"step": made.id})
