"""A stored decision: its states, the request, who asked, how it ended; and what listeners are told.

open --answer--> answered        the first answer stands
open --cancel--> cancelled

An open decision is stored as its request with `_meta` beside it. A closed one is stored as a record
with `input`, `output`, `completed_at`, how it was closed, and the same `_meta`. `FORMAT.md` has all
fields.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.asking.decisions.answers import Answer, answers_from
from siding.asking.decisions.answers import document_of as output_of
from siding.asking.decisions.input_object import InvalidRequest
from siding.asking.decisions.request import DecisionRequest, check_request
from siding.asking.decisions.request import document_of as input_of
from siding.ground.errors import IllegalTransition
from siding.ground.namedtuples import NamedTuple

RECORD_VERSION = 1
LONGEST_SESSION = 100  # bytes


class DecisionState(StrEnum):
    """Whether a decision still waits for a person."""

    OPEN = "open"
    ANSWERED = "answered"
    CANCELLED = "cancelled"


class DecisionMove(StrEnum):
    """What can happen to a decision."""

    ANSWER = "answer"
    CANCEL = "cancel"


DECISION_MOVES: Mapping[DecisionState, Mapping[DecisionMove, DecisionState]] = {
    DecisionState.OPEN: {
        DecisionMove.ANSWER: DecisionState.ANSWERED,
        DecisionMove.CANCEL: DecisionState.CANCELLED,
    },
    DecisionState.ANSWERED: {},
    DecisionState.CANCELLED: {},
}


class AlreadyClosed(IllegalTransition):
    """The decision was answered or cancelled before, by somebody else. It was not changed."""

    code = "already_closed"


def move_decision(state: DecisionState, move: DecisionMove) -> DecisionState:
    """Return the state after `move`; raise AlreadyClosed when the table has none."""
    after = DECISION_MOVES[state].get(move)
    if after is None:
        raise AlreadyClosed(
            f"the decision is {state.value} already and cannot be changed",
            hint="`siding decide show DECISION` shows what was recorded",
        )
    return after


class Via(StrEnum):
    """How a decision was answered or cancelled. Records of other releases may have other words."""

    TERMINAL = "terminal"  # question by question, or by a command that says what it does
    FLAG = "flag"  # the answers were arguments, a file or standard input
    PAGE = "page"  # in the dashboard
    PAGE_WITH_CODE = "page with code"  # in the dashboard, confirmed with the code of its terminal
    DEVICE = "device"  # in the dashboard, signed by a paired device
    RUN = "run"  # nobody waits for an answer any more: its run has ended, or its time is over


class Origin(NamedTuple):
    """Who asked, when, and under which key. Times are ISO 8601 with an offset; "" is unknown.

    Asking again with the same `key` finds the decision. If the caller chose the key (`key_named`),
    that holds for ever. If it was made of the content, it holds until the answer is collected, so
    that the same question can be asked again later.
    """

    session_id: str
    created_at: str
    key: str = ""
    key_named: bool = False
    task_id: str = ""
    step_id: str = ""  # of the run, such as "r7"; in older files the number of its step
    agent: str = ""


class Decision(NamedTuple):
    """One decision. `via` says how it was closed: a `Via`, or a word of another release.

    `closed_in_step` is ``TASK/RUN`` if a command inside a step closed it, else "". `device` and
    `device_id` are the name and the id of the paired device that closed it, else "".
    """

    origin: Origin
    request: DecisionRequest
    state: DecisionState
    answers: tuple[Answer, ...] = ()
    completed_at: str = ""
    via: str = ""
    reason: str = ""
    closed_in_step: str = ""
    device: str = ""
    device_id: str = ""

    @property
    def session_id(self) -> str:
        return self.origin.session_id


def is_session(text: str) -> bool:
    """Return whether a text can be the id of a decision, and so a file name."""
    fits = 0 < len(text.encode("utf-8", "replace")) <= LONGEST_SESSION
    return fits and text.isprintable() and "/" not in text and not text.startswith(".")


def open_document(decision: Decision) -> dict[str, Any]:
    """Return the JSON document of an open decision."""
    return {
        "version": RECORD_VERSION,
        **input_of(decision.request),
        "_meta": _meta(decision.origin),
    }


def record_document(decision: Decision) -> dict[str, Any]:
    """Return the JSON document of a closed decision."""
    document: dict[str, Any] = {
        "version": RECORD_VERSION,
        "input": input_of(decision.request),
        "output": output_of(decision.request, decision.answers),
        "completed_at": decision.completed_at,
        "state": decision.state.value,
        "via": decision.via,
        "_meta": _meta(decision.origin),
    }
    if decision.reason:
        document["reason"] = decision.reason
    if decision.closed_in_step:
        document["closed_in_step"] = decision.closed_in_step
    if decision.device_id:
        document |= {"device": decision.device, "device_id": decision.device_id}
    return document


def decision_from_open(document: Mapping[str, Any]) -> Decision:
    """Return the open decision in a document; raises ValueError with a reason."""
    origin = _origin(document.get("_meta"))
    if not is_session(origin.session_id):
        raise ValueError("`_meta.session_id` is missing, or cannot be a file name")
    return Decision(origin=origin, request=_request(dict(document)), state=DecisionState.OPEN)


def decision_from_record(document: Mapping[str, Any], session_id: str) -> Decision:
    """Return the closed decision in a document; raises ValueError with a reason."""
    origin = _origin(document.get("_meta"))
    if origin.session_id not in ("", session_id):
        raise ValueError(f"it is the record of {origin.session_id!r}, under another name")
    state = DecisionState(document.get("state", DecisionState.ANSWERED.value))
    return Decision(
        origin=origin._replace(session_id=session_id),
        request=_request(document.get("input")),
        state=state,
        answers=answers_from(document.get("output")),
        completed_at=str(document.get("completed_at") or ""),
        via=str(document.get("via") or ""),
        reason=str(document.get("reason") or ""),
        closed_in_step=str(document.get("closed_in_step") or ""),
        device=str(document.get("device") or ""),
        device_id=str(document.get("device_id") or ""),
    )


def _meta(origin: Origin) -> dict[str, Any]:
    first = {"created_at": origin.created_at, "session_id": origin.session_id}
    rest = {key: value for key, value in origin._asdict().items() if key not in first and value}
    return {**first, **rest}


def _origin(value: object) -> Origin:
    meta = value if isinstance(value, dict) else {}
    texts = {
        name: value if isinstance(value := meta.get(name), str) else ""
        for name in ("session_id", "created_at", "key", "task_id", "step_id", "agent")
    }
    return Origin(key_named=meta.get("key_named") is True, **texts)


def _request(value: object) -> DecisionRequest:
    try:
        return check_request(value, stored=True).request
    except InvalidRequest as error:
        raise ValueError(error.message) from error


class DecisionChanged(NamedTuple):
    """A question was asked, answered, cancelled or removed."""

    decision: Decision
    how: str  # asked, answered, …

    @property
    def name(self) -> str:
        return f"decision.{self.how}"

    @property
    def task_id(self) -> str:
        return self.decision.origin.task_id

    def record(self) -> dict[str, Any]:
        how = {"via": self.decision.via, "device": self.decision.device}
        return {
            "task": {"id": self.task_id} if self.task_id else {},
            "decision": {
                "session_id": self.decision.session_id,
                "state": self.decision.state.value,
                "items": len(self.decision.request.items),
                **{name: value for name, value in how.items() if value},
            },
        }
