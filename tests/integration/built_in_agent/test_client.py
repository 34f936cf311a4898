"""Programs that drive `siding agent`: what they are asked, called back for, and may change."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import Sandbox

from .client import Client
from .scripts import denied, fixed


@pytest.fixture
def client(agent: Sandbox) -> Iterator[Client]:
    found = Client(agent)
    yield found
    found.end()


def test_a_client_is_asked_and_its_answers_count(agent: Sandbox, client: Client) -> None:
    client.prompt("run touch a")
    request = client.asked()
    asked = request["request"]
    assert (asked["subtype"], asked["tool_name"]) == ("can_use_tool", "Bash")
    assert asked["input"] == {"command": "touch a"}
    suggestion = asked["permission_suggestions"][-1]
    client.answer(
        request,
        behavior="allow",
        updatedInput={"command": "touch b"},
        updatedPermissions=[{**suggestion, "destination": "session"}],
    )
    assert client.until("result")["permission_denials"] == []
    assert (agent.workspace() / "b").exists()
    assert not (agent.workspace() / "a").exists()
    client.prompt("run touch c")  # what was remembered allows it
    assert client.until("result")["permission_denials"] == []
    assert (agent.workspace() / "c").exists()
    client.prompt("run rm c")
    client.answer(client.asked(), behavior="deny", message="keep it")
    found = client.until("result")
    assert found["result"] == "I was told: keep it"
    assert denied(found) == ["Bash"]
    client.prompt("run rm c")
    client.answer(client.asked(), behavior="deny", message="stop", interrupt=True)
    assert denied(client.until("result")) == ["Bash"]
    assert (agent.workspace() / "c").exists()


def test_a_client_answers_questions_and_changes_the_mode(agent: Sandbox, client: Client) -> None:
    client.prompt("ask")
    request = client.asked()
    assert request["request"]["tool_name"] == "AskUserQuestion"
    given = request["request"]["input"]
    answers = {"Which one?": "blue"}
    client.answer(request, behavior="allow", updatedInput={**given, "answers": answers})
    assert client.until("result")["result"] == "blue it is"
    mode = {"subtype": "set_permission_mode", "mode": "acceptEdits"}
    client.send(type="control_request", request_id="m", request=mode)
    assert client.until("control_response")["response"]["subtype"] == "success"
    client.prompt("fix")
    assert client.until("system")["permissionMode"] == "acceptEdits"
    assert client.until("result")["permission_denials"] == []
    assert fixed(agent)
    mode = {"subtype": "set_permission_mode", "mode": "bypassPermissions"}
    client.send(type="control_request", request_id="b", request=mode)
    assert client.until("control_response")["response"]["subtype"] == "error"


def test_an_interrupt_takes_a_question_back(agent: Sandbox, client: Client) -> None:
    client.prompt("run touch a")
    request = client.asked()
    client.send(type="control_request", request_id="i", request={"subtype": "interrupt"})
    taken_back = client.until("control_cancel_request")
    assert taken_back["request_id"] == request["request_id"]
    assert client.until("result")["subtype"] == "error_during_execution"
    assert not (agent.workspace() / "a").exists()


def test_hooks_of_a_client(agent: Sandbox, client: Client) -> None:
    def called(moment: str) -> dict[str, Any]:
        request = client.asked()
        asked = request["request"]
        assert (asked["subtype"], asked["callback_id"]) == ("hook_callback", f"on {moment}")
        assert asked["input"]["hook_event_name"] == moment
        assert asked["input"]["session_id"]
        return request

    hooks = {
        "PreToolUse": [{"matcher": "Bash|Write", "hookCallbackIds": ["on PreToolUse"]}],
        "PostToolUse": [{"matcher": None, "hookCallbackIds": ["on PostToolUse"]}],
        "Stop": [{"hookCallbackIds": ["on Stop"]}],
        "PreCompact": [{"hookCallbackIds": ["on PreCompact"]}],
    }
    client.send(
        type="control_request",
        request_id="1",
        request={"subtype": "initialize", "hooks": hooks},
    )
    answer = client.until("control_response")["response"]["response"]
    assert answer["unsupported_hooks"] == ["PreCompact"]
    client.prompt("run touch a")
    first = called("PreToolUse")
    assert first["request"]["input"]["tool_input"] == {"command": "touch a"}
    decided = {"permissionDecision": "allow", "updatedInput": {"command": "touch b"}}
    client.answer(first, hookSpecificOutput={"hookEventName": "PreToolUse", **decided})
    told = {"hookEventName": "PostToolUse", "additionalContext": "fix what you did"}
    client.answer(called("PostToolUse"), hookSpecificOutput=told)
    client.answer(called("PostToolUse"))  # of Read, in the answer to what the hook has said
    client.answer(client.asked(), behavior="allow")  # Edit is asked about, and has no hook
    client.answer(called("PostToolUse"))
    client.answer(called("Stop"))
    assert client.until("result")["permission_denials"] == []
    assert (agent.workspace() / "b").exists()
    assert fixed(agent)
    client.prompt("run touch c")
    refusal = {"permissionDecision": "deny", "permissionDecisionReason": "not today"}
    client.answer(called("PreToolUse"), hookSpecificOutput=refusal)
    client.answer(called("Stop"))
    assert denied(client.until("result")) == ["Bash"]
    assert not (agent.workspace() / "c").exists()


def test_a_hook_that_fails_blocks_where_it_should(agent: Sandbox, client: Client) -> None:
    hooks = {"PreToolUse": [{"hookCallbackIds": ["x"], "onFailure": "block"}]}
    request = {"subtype": "initialize", "hooks": hooks}
    client.send(type="control_request", request_id="1", request=request)
    client.until("control_response")
    client.prompt("run git log")
    asked = client.asked()
    failed = {"subtype": "error", "request_id": asked["request_id"], "error": "it fell over"}
    client.send(type="control_response", response=failed)
    assert denied(client.until("result")) == ["Bash"]


def test_a_hook_that_refuses_a_prompt_loses_no_other(agent: Sandbox, client: Client) -> None:
    hooks = {"UserPromptSubmit": [{"hookCallbackIds": ["x"]}]}
    request = {"subtype": "initialize", "hooks": hooks}
    client.send(type="control_request", request_id="1", request=request)
    client.until("control_response")
    client.prompt("run touch a")
    asked = client.asked()
    client.prompt("run git log")  # while the hook still thinks about the first one
    client.answer(asked, decision="block", reason="not that")
    assert "not that" in client.until("result")["result"]
    client.answer(client.asked())
    assert client.until("result")["result"] == "Done."
    assert not (agent.workspace() / "a").exists()


def test_a_line_that_means_nothing_is_named_and_costs_nothing_more(client: Client) -> None:
    for wrong in ({"type": "letter"}, {"type": "user", "message": 3}, {"type": "control_request"}):
        client.send(**wrong)
        named = client.until("system")
        assert named["subtype"] == "unreadable_input"
        assert named["message"]
        assert named["session_id"]
        assert named["uuid"]
    client.prompt("search")
    assert client.until("result")["subtype"] == "success"
