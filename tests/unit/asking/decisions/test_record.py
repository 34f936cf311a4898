"""A decision in its two forms on disk, and which texts may name one."""

import json
from typing import Any

import pytest

from siding.asking.decisions.answers import Answer
from siding.asking.decisions.record import (
    Decision,
    DecisionState,
    Origin,
    decision_from_open,
    decision_from_record,
    is_session,
    open_document,
    record_document,
)
from siding.asking.decisions.request import check_request

from .asking import simple

REQUEST = check_request(simple()).request
AT = "2026-01-15T10:30:00+08:00"
ASKED = Origin(
    session_id="2026-01-15T10-30-00",
    created_at=AT,
    key="k",
    key_named=True,
    task_id="task2345",
    step_id="0003",
    agent="claude",
)
ANSWERS = (Answer(1, ("jwt",)), Answer(2, ("bcrypt",), "note"))


@pytest.mark.parametrize(
    "text", ["2026-01-15T10-30-00", "x", "a b", "\u00e9", "x" * 100, "x.json", "a.b", "\u00e9" * 50]
)
def test_what_may_name_a_decision(text: str) -> None:
    assert is_session(text)


@pytest.mark.parametrize(
    "text", ["", "x" * 101, "\u00e9" * 51, "a/b", "/", ".", "..", ".hidden", "a\nb", "a\0b", "\x1b"]
)
def test_what_may_not(text: str) -> None:
    """It names a file in the project's directory of decisions, and nothing outside or hidden."""
    assert not is_session(text)


@pytest.mark.parametrize("asked", [ASKED, Origin(session_id="s", created_at=AT)])
def test_an_open_decision_comes_back(asked: Origin) -> None:
    decision = Decision(origin=asked, request=REQUEST, state=DecisionState.OPEN)
    document = json.loads(json.dumps(open_document(decision)))
    assert decision_from_open(document) == decision
    assert {key: document[key] for key in simple()} == simple()


def test_of_who_asked_only_what_is_known_is_written() -> None:
    bare = Decision(Origin(session_id="s", created_at=AT), REQUEST, DecisionState.OPEN)
    assert open_document(bare)["_meta"] == {"created_at": AT, "session_id": "s"}
    assert bare.session_id == "s"


@pytest.mark.parametrize(
    "decision",
    [
        Decision(ASKED, REQUEST, DecisionState.ANSWERED, ANSWERS, AT, "page with code"),
        Decision(ASKED, REQUEST, DecisionState.CANCELLED, (), AT, "flag", "why", "task2345/0004"),
    ],
)
def test_a_closed_decision_comes_back(decision: Decision) -> None:
    document = json.loads(json.dumps(record_document(decision)))
    assert decision_from_record(document, ASKED.session_id) == decision
    assert ("reason" in document) == bool(decision.reason)
    assert ("closed_in_step" in document) == bool(decision.closed_in_step)


def test_a_record_that_says_little_is_an_answer() -> None:
    document = {"input": simple(), "output": {"decisions": []}, "_meta": {"key": 3}}
    found = decision_from_record(document, "s")
    assert found == Decision(
        Origin(session_id="s", created_at=""), REQUEST, DecisionState.ANSWERED, ()
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"_meta": {"session_id": "another"}}, "the record of 'another'"),
        ({"state": "unheard of"}, "unheard of"),
        ({"input": {}}, "task is missing"),
        ({"output": {}}, "not a list"),
        ({"output": []}, "not a list"),
        ({"output": {"decisions": [{"id": 1}]}}, "lacks `id` or `chosen`"),
    ],
)
def test_a_record_that_cannot_be_right_says_why(change: dict[str, Any], problem: str) -> None:
    closed = Decision(ASKED, REQUEST, DecisionState.ANSWERED, ANSWERS)
    with pytest.raises(ValueError, match=problem):
        decision_from_record({**record_document(closed), **change}, ASKED.session_id)


@pytest.mark.parametrize("session", ["", "../x", 3, None])
def test_an_open_decision_without_a_name_is_damage(session: object) -> None:
    with pytest.raises(ValueError, match="session_id"):
        decision_from_open({**simple(), "_meta": {"session_id": session}})


def test_an_open_decision_that_asks_nothing_is_damage() -> None:
    with pytest.raises(ValueError, match="items is empty"):
        decision_from_open({**simple(items=[]), "_meta": {"session_id": "s"}})


def test_a_place_that_another_program_named_outside_the_project_hides_no_question() -> None:
    outside = simple()
    outside["items"][0]["location"]["file"] = "/etc/passwd"
    found = decision_from_open({**outside, "_meta": {"session_id": "s"}})
    assert found.request.items[0].location is None
