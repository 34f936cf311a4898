"""A run's questions to a person. The question outlives the call that asked it, and the run."""

from typing import Any

from siding.asking.kinds import refuse_key_of_gates
from siding.asking.lookup import find, get, open_questions
from siding.asking.notifier import Notifier
from siding.asking.question import ask, collected, output_or_raise, page_of, wait
from siding.asking.views import DecisionView, as_record
from siding.broker.desk import Desk
from siding.broker.messages import AskRequest
from siding.broker.record import MOST_QUESTIONS, TooMuch
from siding.ground.errors import NotFound


def ask_person(desk: Desk, request: AskRequest) -> dict[str, Any]:
    """Put the question, or find it again, and wait for its answer unless told not to.

    Raises NotAnswered after the time that was given, and Cancelled.
    """
    if request.session:
        decision = _of_task(desk, request.session)
        told: dict[str, Any] = {}
    else:
        decision, told = _put(desk, request)
    if request.wait:
        timeout_s = request.timeout_s
        if decision.state == "open":
            decision = wait(desk.project, decision.session_id, timeout_s=timeout_s, sleep=desk.idle)
        output_or_raise(decision)
    return {
        "session": decision.session_id,
        "state": decision.state,
        "output": decision.output if decision.state == "answered" else None,
        "decision": as_record(decision),
        **told,
    }


def collect(desk: Desk, session: str) -> None:
    """Record that whoever asked has read the answer: the same words are a new question then."""
    collected(desk.project, get(desk.project, session))


def _put(desk: Desk, request: AskRequest) -> tuple[DecisionView, dict[str, Any]]:
    refuse_key_of_gates(request.key)
    if len(open_questions(desk.project, desk.task.id)) >= MOST_QUESTIONS:
        raise TooMuch(
            f"{MOST_QUESTIONS} questions of this task wait for a person already",
            hint='wait for an answer: {"do": "ask", "session": "…"} asks for that of one of them',
        )
    with Notifier(desk.project) as notifier:
        asking = ask(desk.project, request.question, key=request.key, task_id=desk.task.id)
    page = page_of(desk.project, asking.decision)
    notifier.deliver(url=page)
    return asking.decision, {"found": asking.found, "ignored": list(asking.ignored), "page": page}


def _of_task(desk: Desk, session: str) -> DecisionView:
    """Return a question of the run's task. Raises NotFound, for those of other tasks as well."""
    decision = find(desk.project, session)
    if decision.task_id != desk.task.id:
        raise NotFound(f"this task has no decision {session!r}")
    return decision
