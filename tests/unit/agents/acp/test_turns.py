"""The talker of ACP: how turns end, what they use, and what is set."""

from typing import Any

import pytest

from siding.agents.talking.port import (
    TALKING,
    Applied,
    CommandsChanged,
    How,
    Opened,
    OwnCommand,
    Text,
    Trouble,
    Troubled,
    TurnEnded,
    Used,
)
from unit.agents.acp.replay import AGENTS, Played, begun, hold, of, opened, recorded, turn

# -- Ends ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "how"),
    [
        ("end_turn", How.DONE),
        ("cancelled", How.STOPPED),
        ("refusal", How.FAILED),
        ("max_tokens", How.FAILED),
        ("max_turn_requests", How.FAILED),
        ("moonrise", How.FAILED),
        (None, How.FAILED),
    ],
)
def test_how_a_turn_ends(reason: str | None, how: How) -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    end = played.says(id=3, result={"stopReason": reason})[-1]
    assert isinstance(end, TurnEnded)
    assert end.how is how
    assert bool(end.reason) == (how is How.FAILED)


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        ({"code": -32000, "message": "Authentication required"}, Trouble.LOGIN),
        ({"code": -32000, "message": "no"}, Trouble.LOGIN),
        ({"code": -32002, "message": "no"}, Trouble.NO_SESSION),
        ({"code": 401, "message": "no"}, Trouble.LOGIN),
        ({"code": 403, "message": "no"}, Trouble.LOGIN),
        ({"code": -32603, "message": "x", "data": {"details": "API key not valid"}}, Trouble.LOGIN),
        ({"code": 429, "message": "slow down"}, Trouble.LIMIT),
        ({"code": -32603, "message": "Rate limit exceeded. Try again later."}, Trouble.LIMIT),
        ({"code": 500, "message": "You exceeded your current quota"}, Trouble.LIMIT),
        ({"code": 503, "message": "overloaded"}, Trouble.SERVER),
        ({"code": -32603, "message": "Internal error"}, None),
        ({}, None),
    ],
)
def test_what_an_error_means(error: dict[str, Any], trouble: Trouble | None) -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    events = played.says(id=3, error=error)
    assert [each.trouble for each in of(Troubled, events)] == ([trouble] if trouble else [])
    assert isinstance(events[-1], TurnEnded)
    assert events[-1].how is How.FAILED
    assert events[-1].reason
    assert played.does("prompt", "p2", ["again"]) == []


def test_an_error_after_a_stop_is_the_stop() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    played.does("stop")
    assert played.says(id=3, error={"code": -32603, "message": "aborted"})[-1] == TurnEnded(
        How.STOPPED
    )
    assert played.does("stop") == []
    assert played.last["method"] == "session/cancel"


def test_a_steer_is_handed_back() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    played.does("steer", "p2", ["y"])
    assert len([each for each in played.sent if each.get("method") == "session/prompt"]) == 1
    assert played.says(id=3, result={"stopReason": "end_turn"})[-1] == TurnEnded(
        How.DONE, left=("p2",)
    )
    played.does("prompt", "p2", ["y"])
    assert played.says(id=4, result={"stopReason": "end_turn"})[-1] == TurnEnded(How.DONE)


def test_a_second_prompt_in_a_turn_is_a_mistake_of_the_holder() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    with pytest.raises(AssertionError):
        played.talker.prompt("p2", ["y"])


# -- What it has used ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "section", "used"),
    [
        ("gemini", "edit", Used(input=309, output=60)),
        ("opencode", "edit", Used(context=105, window=200000)),  # its numbers are of one request
        ("copilot", "edit", Used(input=205, output=40, context=8777, window=128000)),
        ("qwen", "shell", Used(input=209, output=40)),
    ],
)
def test_what_a_turn_has_used(agent: str, section: str, used: Used) -> None:
    played = begun(agent)
    turn(played, recorded(agent)["text"])
    events = turn(played, recorded(agent)[section])
    assert of(Used, events)[-1] == used


def test_of_a_conversation_that_goes_on_the_sum_until_now_is_not_known() -> None:
    talking = TALKING.of("copilot")
    assert talking is not None
    played = Played(talking.opened(hold(session="a-session")).talker)
    played.hears(*recorded("copilot")["initialize"], *recorded("copilot")["load"])
    first = turn(played, recorded("copilot")["text"])
    assert {(each.input, each.output) for each in of(Used, first)} == {(0, 0)}
    second = turn(played, recorded("copilot")["edit"])
    assert of(Used, second)[-1].input == 205


def test_money_is_of_the_turn() -> None:
    played = opened()
    for so_far, expected in ((0.25, 0.25), (0.75, 0.5)):
        played.does("prompt", "p1", ["x"])
        played.updates("agent_message_chunk", content={"type": "text", "text": "Yes."})
        cost = {"amount": so_far, "currency": "USD"}
        (used,) = of(Used, played.updates("usage_update", used=10, size=100, cost=cost))
        assert used.dollars == expected
        played.says(id=played.last_id, result={"stopReason": "end_turn"})


# -- Settings --------------------------------------------------------------------------------------


def test_a_setting_is_read_back() -> None:
    played = begun("opencode")
    assert played.does("set", model="test/b-model") == []
    assert played.last["method"] == "session/set_config_option"
    events = played.hears(*recorded("opencode")["model"])
    assert events == [Applied(model="test/b-model", mode="build")]
    played.does("set", mode="plan")
    assert played.hears(*recorded("opencode")["mode"]) == [
        Applied(model="test/b-model", mode="plan")
    ]


def test_a_setting_in_the_older_way() -> None:
    played = begun("gemini")
    played.does("set", model="gemini-3.8-flash")
    assert played.last["method"] == "session/set_model"
    assert played.hears(*recorded("gemini")["model"]) == [
        Applied(model="gemini-3.8-flash", mode="default")
    ]
    played.does("set", mode="autoEdit")
    assert played.last["params"] == {"sessionId": "a-session", "modeId": "autoEdit"}
    events = played.hears(*recorded("gemini")["mode"])  # it says so in a piece of text as well
    assert of(Text, events) == []
    assert events[-1] == Applied(model="gemini-3.8-flash", mode="autoEdit")


@pytest.mark.parametrize("agent", AGENTS)
def test_what_it_does_not_list_is_not_set(agent: str) -> None:
    played = begun(agent)
    before = len(played.sent)
    for wanted in ({"model": "moonshine"}, {"mode": "moonrise"}, {"effort": "moonlit"}):
        (trouble,) = played.does("set", **wanted)
        assert isinstance(trouble, Troubled)
        assert next(iter(wanted.values())) in trouble.message
    assert len(played.sent) == before


def test_a_setting_that_it_refuses_is_told() -> None:
    played = begun("gemini")
    played.does("set", mode="plan")
    (trouble,) = played.says(id=3, error={"code": -32603, "message": "Plan mode is off"})
    assert isinstance(trouble, Troubled)
    assert "Plan mode is off" in trouble.message
    assert played.talker.abilities.asks


def test_modes_that_are_addresses_are_known_by_their_ends() -> None:
    played = begun("copilot")
    (opening,) = of(Opened, played.events)
    assert opening.modes == ("agent", "plan", "autopilot")
    played.does("set", mode="plan")
    assert played.last["params"]["value"].startswith("https://")
    assert not played.talker.abilities.models  # this one lists none


def test_qwen_is_set_to_ask_before_it_is_open() -> None:
    talking = TALKING.of("qwen")
    assert talking is not None
    played = Played(talking.opened(hold()).talker)
    played.hears(*recorded("qwen")["initialize"], *recorded("qwen")["new"])
    assert played.last["params"]["value"] == "default"
    assert of(Opened, played.events) == []
    events = played.says(id=3, error={"code": -32602, "message": "no"})
    assert isinstance(events[0], Troubled)
    assert isinstance(events[2], Opened)
    assert not played.talker.abilities.asks  # a model judges in the mode that it is in


def test_a_model_is_known_by_its_name_and_in_a_group() -> None:
    values = [{"name": "Group", "group": "g", "options": [{"value": "id-1", "name": "Model One"}]}]
    option = {"id": "m", "category": "model", "type": "select", "currentValue": "x"}
    effort = {"id": "t", "category": "thought_level", "type": "select", "currentValue": "low"}
    options = [{**option, "options": values}, {**effort, "options": [{"value": "high"}]}]
    played = opened(configOptions=options)
    played.does("set", model="model one")
    assert played.last["params"] == {"sessionId": "a-session", "configId": "m", "value": "id-1"}
    can = played.talker.abilities
    assert (can.models, can.modes, can.efforts, can.pictures) == (True, False, True, False)
    twins = [{"value": "id-2", "name": "Twin"}, {"value": "id-3", "name": "Twin"}]
    played.updates("config_option_update", configOptions=[{**option, "options": twins}])
    assert of(Troubled, played.does("set", model="Twin"))
    played.does("set", effort="high")
    assert played.last["params"]["configId"] == "t"


def test_what_changes_by_itself_is_told() -> None:
    played = begun("gemini")
    assert played.updates("current_mode_update", currentModeId="plan") == [
        Applied(model="gemini-2.5-pro", mode="plan")
    ]
    assert played.updates("current_mode_update", currentModeId="plan") == []
    (changed,) = played.updates(
        "available_commands_update", availableCommands=[{"name": "new", "description": "x"}]
    )
    assert changed == CommandsChanged((OwnCommand("/new", "x"),))
