"""A decision as it is kept: what was asked, by whom, and how it ended.

While it is open it is a document in the seed's form of ``pending.json``: the request with `_meta`.
Once it is closed it is the seed's `DecisionRecord`: `input`, `output`, `completed_at`, and beside
them how it was closed and the same `_meta`.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from siding.decisions.answers import Answer, answers_from
from siding.decisions.answers import document_of as output_of
from siding.decisions.checking import check_request
from siding.decisions.places import InvalidRequest
from siding.decisions.request import Request
from siding.decisions.request import document_of as input_of
from siding.decisions.states import DecisionState

RECORD_VERSION = 1
LONGEST_SESSION = 100  # bytes


class Via(StrEnum):
    """How a decision was answered or cancelled. Records may have words of other versions."""

    TERMINAL = "terminal"  # question by question, or by a command that says what it does
    FLAG = "flag"  # the answers were arguments, a file or standard input
    PAGE = "page"  # with the key of the dashboard
    PAGE_WITH_CODE = "page with code"  # and with the code that its terminal showed


class Asked(NamedTuple):
    """Who asked, when, and under which key. Times are ISO 8601 with an offset; "" is unknown.

    `key` finds the decision again. One that the caller named (`key_named`) does so for ever; one
    made of the content does until the answer was collected, so that the same question can be put
    again later.
    """

    session_id: str
    created_at: str
    key: str = ""
    key_named: bool = False
    task_id: str = ""
    step_id: str = ""
    agent: str = ""


class Decision(NamedTuple):
    """One decision. `via` says how it was answered or cancelled: a `Via`, or another's word.

    `closed_in_step` is ``TASK/STEP`` when that was done from inside a step, else "".
    """

    asked: Asked
    request: Request
    state: DecisionState
    answers: tuple[Answer, ...] = ()
    completed_at: str = ""
    via: str = ""
    reason: str = ""
    closed_in_step: str = ""

    @property
    def session_id(self) -> str:
        return self.asked.session_id


def is_session(text: str) -> bool:
    """Return whether a text may name a decision, and so a file."""
    fits = 0 < len(text.encode("utf-8", "replace")) <= LONGEST_SESSION
    return fits and text.isprintable() and "/" not in text and not text.startswith(".")


def open_document(decision: Decision) -> dict[str, Any]:
    """Return the document of an open decision."""
    return {
        "version": RECORD_VERSION,
        **input_of(decision.request),
        "_meta": _meta(decision.asked),
    }


def record_document(decision: Decision) -> dict[str, Any]:
    """Return the document of a closed decision."""
    document: dict[str, Any] = {
        "version": RECORD_VERSION,
        "input": input_of(decision.request),
        "output": output_of(decision.request, decision.answers),
        "completed_at": decision.completed_at,
        "state": decision.state.value,
        "via": decision.via,
        "_meta": _meta(decision.asked),
    }
    if decision.reason:
        document["reason"] = decision.reason
    if decision.closed_in_step:
        document["closed_in_step"] = decision.closed_in_step
    return document


def decision_from_open(document: Mapping[str, Any]) -> Decision:
    """Return the open decision in a document; raises ValueError with a reason."""
    asked = _asked(document.get("_meta"))
    if not is_session(asked.session_id):
        raise ValueError("`_meta.session_id` is missing, or no name of a file")
    return Decision(asked=asked, request=_request(dict(document)), state=DecisionState.OPEN)


def decision_from_record(document: Mapping[str, Any], session_id: str) -> Decision:
    """Return the closed decision in a document; raises ValueError with a reason."""
    asked = _asked(document.get("_meta"))
    if asked.session_id not in ("", session_id):
        raise ValueError(f"it is the record of {asked.session_id!r}: put the right file in place")
    state = DecisionState(document.get("state", DecisionState.ANSWERED.value))
    return Decision(
        asked=asked._replace(session_id=session_id),
        request=_request(document.get("input")),
        state=state,
        answers=answers_from(document.get("output")),
        completed_at=str(document.get("completed_at") or ""),
        via=str(document.get("via") or ""),
        reason=str(document.get("reason") or ""),
        closed_in_step=str(document.get("closed_in_step") or ""),
    )


def _meta(asked: Asked) -> dict[str, Any]:
    first = {"created_at": asked.created_at, "session_id": asked.session_id}
    rest = {key: value for key, value in asked._asdict().items() if key not in first and value}
    return {**first, **rest}


def _asked(value: object) -> Asked:
    meta = value if isinstance(value, dict) else {}
    texts = {
        name: value if isinstance(value := meta.get(name), str) else ""
        for name in ("session_id", "created_at", "key", "task_id", "step_id", "agent")
    }
    return Asked(key_named=meta.get("key_named") is True, **texts)


def _request(value: object) -> Request:
    try:
        return check_request(value, stored=True).request
    except InvalidRequest as error:
        raise ValueError(error.message) from error
