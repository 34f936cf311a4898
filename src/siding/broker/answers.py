"""What a run may ask its broker, and how each request is carried out."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from siding.agents.table import ANY
from siding.asking.lookup import open_questions
from siding.broker.desk import Desk
from siding.broker.happenings import happenings
from siding.broker.limits import LONGEST_NOTE
from siding.broker.questions import ask_person, collect
from siding.broker.reports import report
from siding.broker.request import VERSION, BadRequest, Request
from siding.broker.taken_back import went_back
from siding.feed.short import short_status
from siding.ground.namedtuples import NamedTuple
from siding.guard.in_force import is_judged
from siding.guard.views import as_record, check_in
from siding.phases.moves import PhaseRequest, move, moved_as_record
from siding.phases.phases import PhaseMove
from siding.phases.phases import status as phase_status
from siding.record.ledger.turns import reported_turns
from siding.running.checkpoint import TurnWords, record_turn

_LONGEST_LINE = 256 << 10  # characters of a shell line that is judged
_LONGEST_TEXT = 4000

Result = Mapping[str, Any]


class Answered(NamedTuple):
    """What a request came to. `brief` is what the run's record has of it.

    `delivered` is called when whoever asked has read the answer.
    """

    result: Result
    brief: Result = MappingProxyType({})
    delivered: Callable[[], None] | None = None


def answer(desk: Desk, request: Request) -> Answered:
    """Carry out a request. Raises SidingError if it is refused or fails, and BadRequest."""
    return _known(request.what)(desk, request)


def stream(desk: Desk, request: Request) -> Iterator[Result] | None:
    """Return what a request tells from time to time; None if it has one answer."""
    return happenings(desk) if request.what == "events" else None


def _known(what: str) -> Callable[[Desk, Request], Answered]:
    found = _ANSWERS.get(what)
    if found is None:
        known = ", ".join(sorted([*_ANSWERS, "events"]))
        raise BadRequest(f"{what[:80]!r} is not what a run may ask", hint=f"it may ask: {known}")
    return found


def _hello(desk: Desk, request: Request) -> Answered:
    del request
    return Answered(
        {
            "version": VERSION,
            "run": desk.run.id,
            "task": desk.task.id,
            "requests": sorted([*_ANSWERS, "events"]),
        }
    )


def _status(desk: Desk, request: Request) -> Answered:
    del request
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


def _turns(desk: Desk, request: Request) -> Answered:
    """Tell which turns of a conversation stand; nothing if no state was gone back to since."""
    session = request.text("session", most=_LONGEST_TEXT, needed=True)
    since = request.fields.get("since")
    if not isinstance(since, int | None) or isinstance(since, bool):
        raise BadRequest("turns: 'since' must be the number of a step")
    ledger = desk.project.ledger(desk.task.id)
    newest = ledger.last()
    number = 0 if newest is None else newest.number
    if since is not None and not went_back(ledger.newest_first(), since):
        return Answered({"step": number, "turns": None})
    told = [
        {"turn": each.detail.turn, "stands": each.stands}
        for each in reported_turns(ledger.steps())
        if each.detail.session == session
    ]
    return Answered({"step": number, "turns": told}, {"turns": len(told)})


def _check(desk: Desk, request: Request) -> Answered:
    command: tuple[str, ...] | str
    if "argv" in request.fields:
        command = request.words("argv")
    else:
        command = request.text("command", most=_LONGEST_LINE, needed=True)
    cwd = _inside(desk, request.text("cwd", most=4096))
    found = as_record(check_in(desk.project, desk.workspace, cwd, command))
    return Answered(found, {"action": found["action"]})


def _inside(desk: Desk, wanted: str) -> Path:
    """Return the directory that is wanted if it is in the workspace, else the workspace."""
    path = Path(os.path.realpath(desk.workspace / wanted))
    root = Path(os.path.realpath(desk.workspace))
    return path if path.is_relative_to(root) and path.is_dir() else root


def _ask(desk: Desk, request: Request) -> Answered:
    decision = ask_person(desk, request)
    session = decision["session"]
    delivered = None
    if decision["state"] == "answered":

        def delivered() -> None:
            collect(desk, session)

    brief = {"session": session, "state": decision["state"]}
    return Answered(decision, brief, delivered)


def _phase(desk: Desk, request: Request) -> Answered:
    wanted = request.text("move", most=40, needed=True)
    moves = [each.value for each in PhaseMove]
    if wanted not in moves:
        raise BadRequest(f"phase: there is no move {wanted!r}", hint=f"one of {', '.join(moves)}")
    asked = PhaseRequest(
        move=PhaseMove(wanted),
        summary=request.text("summary", most=_LONGEST_TEXT, needed=True),
        target=request.text("phase", most=200) or None,
        task=desk.task.id,
        again=request.yes("again"),
        wait=True,
    )
    done = move(desk.project, asked)
    result = {**moved_as_record(done), "name": done.task.name}
    brief = {"phase": done.entry.phase, "step": done.entry.step}
    return Answered(result, brief)


def _checkpoint(desk: Desk, request: Request) -> Answered:
    message = request.text("message", most=_LONGEST_TEXT)
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


def _note(desk: Desk, request: Request) -> Answered:
    request.text("text", most=LONGEST_NOTE, needed=True)
    del desk
    return Answered({"noted": True})


def _report(desk: Desk, request: Request) -> Answered:
    noted = report(desk, request)
    return Answered(noted.answer._asdict(), noted.brief)


def _steps(desk: Desk, request: Request) -> Answered:
    from siding.broker.records import steps

    return Answered(steps(desk, request))


def _patch(desk: Desk, request: Request) -> Answered:
    from siding.broker.records import patch

    return Answered(patch(desk, request))


def _workflow(desk: Desk, request: Request) -> Answered:
    # Imported here: few runs start workflows or read steps, and each request would pay for it.
    from siding.broker.workflows import workflow

    return Answered(*workflow(desk, request))


_ANSWERS: dict[str, Callable[[Desk, Request], Answered]] = {
    "hello": _hello,
    "status": _status,
    "turns": _turns,
    "policy.check": _check,
    "ask": _ask,
    "phase": _phase,
    "checkpoint": _checkpoint,
    "note": _note,
    "steps": _steps,
    "patch": _patch,
    "report": _report,
    "workflow": _workflow,
}
