"""What an app-server of Codex tells and asks, line by line."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from siding.agents.talking.port import (
    Answer,
    Applied,
    Asked,
    CommandsChanged,
    Event,
    How,
    InBackground,
    Origin,
    OwnCommand,
    Planned,
    PlanStep,
    Text,
    Thought,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
    Unread,
)
from unit.agents.codex.held import asks, notice, opened_talker, running, told
from unit.agents.codex.scenes import sent_by


def limits(percent: int, reached: str | None) -> dict[str, Any]:
    window = {"usedPercent": percent, "resetsAt": 1_800_000_000}
    told_of = {"primary": window, "secondary": None, "rateLimitReachedType": reached}
    return notice("account/rateLimits/updated", rateLimits=told_of)


def test_a_limit_says_when_it_goes() -> None:
    talker = opened_talker()
    assert told(talker, limits(99, None)) == []
    reached = limits(100, "rate_limit_reached")
    (trouble,) = told(talker, reached, reached)
    until = "2027-01-15T08:00:00+00:00"
    assert trouble == Troubled(Trouble.LIMIT, "rate limit reached", until)
    error = {"message": "no more", "codexErrorInfo": "usageLimitExceeded"}
    (trouble,) = told(talker, notice("error", error=error, willRetry=False))
    assert trouble == Troubled(Trouble.LIMIT, "no more", until)


TROUBLES: Mapping[str, tuple[dict[str, Any], Troubled]] = {
    "logged out": (
        notice("account/updated", authMode=None),
        Troubled(Trouble.LOGIN, "Codex is not logged in any more"),
    ),
    "the login": (
        notice("account/login/completed", success=False, error="denied"),
        Troubled(Trouble.LOGIN, "denied"),
    ),
    "settings": (
        notice("configWarning", summary="odd", details="line 3"),
        Troubled(Trouble.OTHER, "odd: line 3"),
    ),
    "a server of tools": (
        notice("mcpServer/startupStatus/updated", name="x", status="failed", error="no such file"),
        Troubled(Trouble.OTHER, "MCP server x: no such file"),
    ),
    "a server of models": (
        notice("error", error={"message": "busy", "codexErrorInfo": "serverOverloaded"}),
        Troubled(Trouble.SERVER, "busy"),
    ),
    "what it passes on": (
        notice("error", error={"message": '{"error": {"message": "odd"}}'}),
        Troubled(Trouble.OTHER, "odd"),
    ),
}


@pytest.mark.parametrize("case", list(TROUBLES))
def test_what_is_wrong_is_told(case: str) -> None:
    line, trouble = TROUBLES[case]
    assert told(opened_talker(), line) == [trouble]


def test_more_permissions_are_granted_for_the_turn_or_the_session() -> None:
    wanted = {"fileSystem": {"write": ["/etc"]}, "network": {"enabled": True}}
    for answer, granted, scope in (
        (Answer(allows=True), wanted, "turn"),
        (Answer(allows=True, always=True), wanted, "session"),
        (Answer(allows=False), {}, "turn"),
    ):
        talker = opened_talker()
        line = asks("item/permissions/requestApproval", permissions=wanted, reason="to install")
        (asked,) = told(talker, line)
        assert isinstance(asked, Asked)
        assert (asked.title, asked.reason) == ("write /etc, reach the network", "to install")
        talker.answer(asked.ask, answer)
        talker.answer(asked.ask, Answer(allows=True))
        assert sent_by(talker) == [{"id": "x", "result": {"permissions": granted, "scope": scope}}]


def test_a_form_of_a_server_of_tools_is_filled_in() -> None:
    fields = {
        "name": {"type": "string", "title": "Your name"},
        "age": {"type": "integer"},
        "sure": {"type": "boolean"},
        "size": {"type": "string", "enum": ["S", "L"]},
    }
    form = {"type": "object", "properties": fields}
    line = asks(
        "mcpServer/elicitation/request", serverName="shop", message="Who?", requestedSchema=form
    )
    talker = opened_talker()
    (asked,) = told(talker, line)
    assert isinstance(asked, Asked)
    assert [choice.question for choice in asked.choices] == ["Your name", "age", "sure", "size"]
    assert [label for label, _about in asked.choices[3].options] == ["S", "L"]
    chosen = {"Your name": "Ann", "age": "7", "sure": "no", "size": "L"}
    talker.answer(asked.ask, Answer(allows=True, choices=chosen))
    content = {"name": "Ann", "age": 7, "sure": False, "size": "L"}
    assert sent_by(talker) == [{"id": "x", "result": {"action": "accept", "content": content}}]


def test_a_tool_of_a_server_is_a_permission() -> None:
    meta = {"codex_approval_kind": "mcp_tool_call", "tool_name": "buy", "tool_params": {"n": 1}}
    line = asks(
        "mcpServer/elicitation/request",
        serverName="shop",
        message="May it buy?",
        requestedSchema={"type": "object", "properties": {}},
        _meta={**meta, "persist": ["session", "always"]},
    )
    for answer, result in (
        (Answer(allows=True), {"action": "accept", "content": {}}),
        (
            Answer(allows=True, always=True),
            {"action": "accept", "content": {}, "_meta": {"persist": "session"}},
        ),
        (Answer(allows=False), {"action": "decline", "content": None}),
    ):
        talker = opened_talker()
        (asked,) = told(talker, line)
        assert asked == Asked("1", "May it buy?", "shop.buy", input={"n": 1}, can_always=True)
        talker.answer("1", answer)
        assert sent_by(talker) == [{"id": "x", "result": result}]
    talker = opened_talker()
    told(talker, line)
    talker.answer("1", Answer(allows=False, reason="too dear"))
    (steer,) = sent_by(talker)
    assert steer["method"] == "turn/steer"
    told(talker, {"id": steer["id"], "error": {"code": -1, "message": "no turn"}})
    assert sent_by(talker) == [{"id": "x", "result": {"action": "decline", "content": None}}]


def test_what_is_not_offered_is_refused_and_kept() -> None:
    talker = opened_talker()
    (unread,) = told(talker, asks("item/tool/call", tool="x"))
    assert isinstance(unread, Unread)
    (refused,) = sent_by(talker)
    assert (refused["id"], refused["error"]["code"]) == ("x", -32601)


def test_a_broken_line_is_kept_and_the_next_is_read() -> None:
    events = opened_talker().receive(b'{"method": \n{"method": "turn/started", "params": {}}\n')
    assert events == [Unread('{"method":'), TurnStarted("", Origin.ITSELF)]


OTHERS: Mapping[str, tuple[dict[str, Any], Callable[[Event], bool]]] = {
    "a plan": (
        notice("turn/plan/updated", plan=[{"step": "one", "status": "inProgress"}]),
        lambda event: event == Planned((PlanStep("one", "in_progress"),)),
    ),
    "a plan's text": (
        notice("item/plan/delta", itemId="i", delta="First"),
        lambda event: event == Text("First"),
    ),
    "another model": (
        notice("model/rerouted", fromModel="a", toModel="b"),
        lambda event: event == Applied(model="b"),
    ),
    "a new notice": (notice("thread/danced"), lambda event: isinstance(event, Unread)),
    "a new item": (
        notice("item/started", item={"id": "i", "type": "dance"}),
        lambda event: isinstance(event, Unread),
    ),
}


@pytest.mark.parametrize("case", list(OTHERS))
def test_other_notices(case: str) -> None:
    line, is_so = OTHERS[case]
    (event,) = told(opened_talker(), line)
    assert is_so(event)


def test_skills_that_change_are_asked_for_again() -> None:
    talker = opened_talker()
    assert told(talker, {"method": "skills/changed", "params": {}}) == []
    (listed,) = sent_by(talker)
    assert listed["params"] == {"cwds": ["/w"], "forceReload": True}
    skills = [{"name": "a", "description": "b"}, {"name": "off", "enabled": False}]
    answer = {"id": listed["id"], "result": {"data": [{"cwd": "/w", "skills": skills}]}}
    assert told(talker, answer) == [CommandsChanged((OwnCommand("$a", "b"),))]


def test_tools_that_are_told_of_as_they_end_alone() -> None:
    item = {"id": "i", "type": "mcpToolCall", "server": "shop", "tool": "buy", "status": "failed"}
    error = {"message": "no money"}
    line = notice("item/completed", item={**item, "arguments": {"n": 1}, "error": error})
    assert told(opened_talker(), line) == [
        ToolStarted("i", "shop.buy", "shop.buy", "other", {"n": 1}),
        ToolEnded("i", failed=True, text="no money"),
    ]


def started(call: str, turn: str = "t", kind: str = "commandExecution") -> dict[str, Any]:
    item = {"id": call, "type": kind, "command": call, "tool": call}
    return notice("item/started", item=item, turnId=turn)


def ended(turn: str, status: str = "completed") -> dict[str, Any]:
    return notice("turn/completed", turn={"id": turn, "status": status})


def test_a_stop_ends_the_commands_of_its_turn_alone() -> None:
    talker = running()
    assert len(told(talker, started("server"), started("server"))) == 1  # told of twice
    assert told(talker, ended("t"))[0] == InBackground(("server",))
    told(talker, notice("turn/started", turn={"id": "u"}))
    told(talker, started("build", "u"), started("search", "u", "mcpToolCall"))
    assert told(talker, ended("u", "interrupted")) == [
        ToolEnded("build", failed=True),
        ToolEnded("search", failed=True),
        TurnEnded(How.STOPPED),
    ]
    (listed,) = sent_by(talker)
    running_now = [{"itemId": each, "processId": f"of {each}"} for each in ("server", "build")]
    told(talker, {"id": listed["id"], "result": {"data": running_now}})
    (terminated,) = sent_by(talker)
    assert terminated["params"]["processId"] == "of build"
    gone = {"id": "build", "type": "commandExecution", "status": "failed"}
    assert told(talker, notice("item/completed", item=gone)) == []  # it was told to have ended
    over = {**gone, "id": "server", "status": "completed"}
    assert told(talker, notice("item/completed", item=over)) == [
        ToolEnded("server"),
        InBackground(()),
    ]


def test_a_call_that_is_no_command_ends_with_its_turn() -> None:
    talker = running()
    told(talker, started("buy", kind="mcpToolCall"))
    assert told(talker, ended("t")) == [ToolEnded("buy", failed=True), TurnEnded(How.DONE)]


def thought(**fields: Any) -> dict[str, Any]:
    return notice("item/completed", item={"id": "i", "type": "reasoning", **fields})


def test_the_parts_of_a_thought_are_apart() -> None:
    talker = running()
    piece = "item/reasoning/summaryTextDelta"
    part = notice("item/reasoning/summaryPartAdded", itemId="i", summaryIndex=0)
    events = told(
        talker,
        part,
        notice(piece, itemId="i", delta="One."),
        part,
        notice(piece, itemId="i", delta="Tw"),
        thought(summary=["One.", "Two."], content=["raw"]),
    )
    assert events == [Thought("One."), Thought("\n\n"), Thought("Tw"), Thought("o.")]
    assert told(talker, thought(summary=["One.", "Two."])) == [Thought("One.\n\nTwo.")]
    assert told(talker, thought(summary=[], content=["raw"])) == [Thought("raw")]


def test_a_tool_of_a_server_says_how_far_it_is() -> None:
    progress = notice("item/mcpToolCall/progress", itemId="i", message="half")
    assert told(running(), progress) == [ToolOutput("i", "half\n")]


def test_a_helper_that_is_called_as_a_tool() -> None:
    item = {"id": "call", "type": "collabAgentToolCall", "tool": "spawnAgent", "prompt": "count"}
    spawned = {**item, "status": "completed", "receiverThreadIds": ["helper"]}
    said = {"id": "m", "type": "agentMessage", "text": "Two."}
    events = told(
        running(),
        notice("item/started", item=item),
        notice("item/completed", item=spawned),
        notice("item/completed", item=said, threadId="helper"),
        notice("thread/tokenUsage/updated", tokenUsage={}, threadId="helper"),
    )
    assert events == [
        ToolStarted("call", "spawnAgent", "spawnAgent", input={"prompt": "count"}),
        ToolEnded("call"),
        Text("Two.", inside="call"),
    ]
