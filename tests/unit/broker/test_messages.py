"""The messages of a run and its broker: what is read, what is refused, and the bytes of a reply."""

import json
from typing import Any

import pytest

from siding.broker.messages import (
    REQUESTS,
    AskRequest,
    BadRequest,
    CancelWorkflow,
    CheckRequest,
    EventReply,
    EventsRequest,
    HelloRequest,
    MoveRequest,
    NoteRequest,
    PatchRequest,
    RefusalReply,
    Reply,
    ReportRequest,
    Request,
    ResultReply,
    StartWorkflow,
    StepsRequest,
    TurnsRequest,
    UnknownReply,
    parse,
    reply_in,
    reply_line,
    request_in,
)
from siding.ground.errors import NotFound
from siding.record.phases.states import PhaseMove


def read(**fields: Any) -> Request:
    return request_in(parse(json.dumps(fields).encode()))


@pytest.mark.parametrize(
    ("fields", "request_"),
    [
        ({"do": "hello", "more": 1}, HelloRequest()),
        ({"do": "turns", "session": "s"}, TurnsRequest("s", None)),
        ({"do": "policy.check", "argv": ["a", "b"], "cwd": "x"}, CheckRequest(("a", "b"), "x")),
        ({"do": "policy.check", "command": "a b"}, CheckRequest("a b", "")),
        ({"do": "ask", "question": {"q": 1}, "key": "k"}, AskRequest({"q": 1}, key="k")),
        ({"do": "ask", "session": "s", "timeout_s": 3}, AskRequest(session="s", timeout_s=3.0)),
        ({"do": "ask", "session": "s", "wait": False}, AskRequest(session="s", wait=False)),
        (
            {"do": "phase", "move": "next-step", "summary": "s"},
            MoveRequest(PhaseMove.NEXT_STEP, "s", None, again=False),
        ),
        ({"do": "note", "text": "t"}, NoteRequest()),
        ({"do": "report", "agent": "a", "payload": {}}, ReportRequest("a", {})),
        ({"do": "steps"}, StepsRequest(20)),
        ({"do": "patch", "step": 3}, PatchRequest(3)),
        ({"do": "events"}, EventsRequest()),
        (
            {"do": "workflow", "act": "run", "name": "n", "max_concurrency": 2},
            StartWorkflow(name="n", max_concurrency=2),
        ),
        (
            {"do": "workflow", "act": "run", "resume": "w", "max_concurrency": "?"},
            StartWorkflow(resume="w"),
        ),
        ({"do": "workflow", "act": "cancel", "run": "w"}, CancelWorkflow("w", None)),
    ],
)
def test_a_line_becomes_the_request_it_is(fields: dict[str, Any], request_: Request) -> None:
    found = read(**fields)
    assert (type(found), found) == (type(request_), request_)


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        ({"do": "dream"}, "'dream' is not what a run may ask", ", ".join(REQUESTS)),
        ({"do": "status", "version": 2}, "version 2 of requests is not known", "this is 1"),
        ({"do": "turns", "session": "s", "since": True}, "the number of a step", ""),
        ({"do": "ask"}, "'question' must be an object", "siding decide"),
        ({"do": "ask", "session": "s", "timeout_s": -1}, "a number of seconds", ""),
        ({"do": "phase", "move": "fly"}, "there is no move 'fly'", "next"),
        ({"do": "patch"}, "'step' must be a whole number from 1 to", ""),
        ({"do": "report", "agent": "a"}, "'payload' an object", ""),
        ({"do": "workflow", "act": "run"}, "script, name, or script_path", ""),
        ({"do": "workflow", "act": "fly"}, "no act 'fly'", "cancel, list, run, status"),
    ],
)
def test_a_wrong_request_is_refused(fields: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(BadRequest, match=message) as refused:
        read(**fields)
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (ResultReply(3, {"a": 1}), b'{"ok": true, "id": 3, "result": {"a": 1}}\n'),
        (EventReply(None, {"event": "x"}), b'{"ok": true, "event": {"event": "x"}}\n'),
        (
            RefusalReply.of("n", NotFound("no", hint="h"), output="o"),
            b'{"ok": false, "id": "n", "error": '
            b'{"code": "not_found", "message": "no", "hint": "h", "output": "o"}}\n',
        ),
        (
            RefusalReply(None, "failed", "it"),
            b'{"ok": false, "error": {"code": "failed", "message": "it"}}\n',
        ),
    ],
)
def test_a_reply_is_a_line_that_is_read_again(reply: Reply, line: bytes) -> None:
    assert reply_line(reply) == line
    again = reply_in(line)
    assert (type(again), again) == (type(reply), reply)


@pytest.mark.parametrize("line", [b"[]", b"{}", b'{"ok": "later", "result": {}}'])
def test_a_reply_of_another_version_is_said_to_be_one(line: bytes) -> None:
    with pytest.raises(UnknownReply, match="this version of Siding does not know"):
        reply_in(line)
