"""The control protocol: what a client's line means, and ours to it."""

import json
from typing import Any

import pytest

from siding.faces.cli.assistant.client import (
    AnsweredAs,
    Asked,
    Cancelled,
    Ignored,
    Permission,
    Prompt,
    Unreadable,
    answering,
    asking,
    cancelling,
    permission_in,
    read,
    refusing,
)


def line(**fields: Any) -> str:
    return json.dumps(fields)


@pytest.mark.parametrize("content", ["hi", [], [{"type": "text", "text": "hi"}]])
def test_a_prompt(content: Any) -> None:
    found = read(line(type="user", message={"role": "user", "content": content}, uuid="u1"))
    assert isinstance(found, Prompt)
    assert (found.content, found.line["uuid"]) == (content, "u1")


def test_a_request_and_signs_of_life() -> None:
    asked = line(type="control_request", request_id="r1", request={"subtype": "interrupt"})
    assert read(asked) == Asked("r1", "interrupt", {"subtype": "interrupt"})
    assert read(line(type="control_request", request_id="r1", request=3)) == Asked("r1", "", {})
    assert read(line(type="control_cancel_request", request_id="r1")) == Cancelled("r1")
    assert read(line(type="keep_alive")) == read("  \n") == Ignored()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 100_000,
        "[]",
        "3",
        line(a=1),
        line(type="other"),
        line(type="user"),
        line(type="user", message={"content": 3}),
        line(type="user", message={"content": ["hi"]}),
        line(type="user", message={"content": [{"text": "hi"}]}),
        line(type="control_request", request={"subtype": "interrupt"}),
        line(type="control_request", request_id="", request={}),
        line(type="control_response"),
        line(type="control_response", response={"subtype": "success"}),
        line(type="control_cancel_request"),
    ],
)
def test_a_line_that_means_nothing_says_why(text: str) -> None:
    found = read(text)
    assert isinstance(found, Unreadable)
    assert found.why


def test_our_answers_read_as_answers() -> None:
    assert read(json.dumps(answering("r1", {"a": 1}))) == AnsweredAs("r1", {"a": 1})
    assert read(json.dumps(answering("r1"))) == AnsweredAs("r1", {})
    assert read(json.dumps(refusing("r1", "no"))) == AnsweredAs("r1", {}, "no")
    assert read(json.dumps(cancelling("r1"))) == Cancelled("r1")
    found = read(json.dumps(asking("r1", "can_use_tool", {"tool_name": "Bash"})))
    assert found == Asked("r1", "can_use_tool", {"subtype": "can_use_tool", "tool_name": "Bash"})


def test_an_error_without_a_reason_is_an_error() -> None:
    found = read(line(type="control_response", response={"subtype": "error", "request_id": "r"}))
    assert isinstance(found, AnsweredAs)
    assert found.error


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"behavior": "allow"}, Permission(True)),
        ({"behavior": "allow", "updatedInput": {"a": 1}}, Permission(True, {"a": 1})),
        ({"behavior": "allow", "updatedInput": 3, "updatedPermissions": 3}, Permission(True)),
        (
            {"behavior": "allow", "updatedPermissions": [{"type": "addRules"}, 3]},
            Permission(True, updates=({"type": "addRules"},)),
        ),
        ({"behavior": "deny", "message": "no"}, Permission(False, reason="no")),
        (
            {"behavior": "deny", "message": "no", "interrupt": True},
            Permission(False, reason="no", ends_turn=True),
        ),
        ({"behavior": "deny", "interrupt": "yes"}, Permission(False, reason="it was refused")),
        ({"behavior": "Allow"}, Permission(False, reason="it was refused")),
        ({}, Permission(False, reason="it was refused")),
    ],
)
def test_only_a_plain_yes_allows(answer: dict[str, Any], expected: Permission) -> None:
    assert permission_in(AnsweredAs("r1", answer)) == expected


def test_a_client_that_could_not_decide_allows_nothing() -> None:
    found = permission_in(AnsweredAs("r1", {"behavior": "allow"}, "crashed"))
    assert not found.allows
    assert "crashed" in found.reason
