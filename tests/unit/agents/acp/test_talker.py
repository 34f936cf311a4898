"""The talker of ACP: what real agents have said, and what any may say."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.acp.habits import UNKNOWN
from siding.agents.acp.talker import AcpTalker
from siding.agents.acp.talking import ANY
from siding.agents.talking.port import (
    TALKING,
    Answer,
    Applied,
    Asked,
    AskGone,
    CommandsChanged,
    Compacted,
    Edit,
    Event,
    How,
    Opened,
    Origin,
    OwnCommand,
    Picture,
    Planned,
    PlanStep,
    PromptTaken,
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
    Used,
)
from unit.agents.acp.replay import DENIES, VERSIONS, Played, begun, hold, recorded, turn

AGENTS = tuple(VERSIONS)


def of(kind: Any, events: Sequence[Event]) -> list[Any]:
    return [each for each in events if isinstance(each, kind)]


def opened(can: dict[str, Any] | None = None, **session: Any) -> Played:
    """Return an agent that nobody knows; `can` is what it says at first, `session` the answer."""
    played = Played(ANY.opened(hold()).talker)
    played.says(id=1, result={"protocolVersion": 1, "agentCapabilities": can or {}})
    played.says(id=2, result={"sessionId": "a-session", **session})
    return played


# -- As real agents have said it -------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_it_opens(agent: str) -> None:
    played = begun(agent)
    (opening,) = of(Opened, played.events)
    assert opening.session == played.talker.session == "a-session"
    assert opening.version == VERSIONS[agent]
    assert played.sent[0]["method"] == "initialize"
    assert not played.sent[0]["params"]["clientCapabilities"]["terminal"]
    commands = opening.commands or of(CommandsChanged, played.events)[0].commands
    assert all(each.name.startswith("/") for each in commands)
    assert of(Troubled | Unread, played.events) == ([] if agent != "qwen" else [played.events[0]])


@pytest.mark.parametrize("agent", AGENTS)
def test_a_turn(agent: str) -> None:
    played = begun(agent)
    events = turn(played, recorded(agent)["text"])
    assert events[:2] == [PromptTaken("p1"), TurnStarted("p1")]
    assert "".join(each.text for each in of(Text, events)) == "Hello there."
    assert events[-1] == TurnEnded(How.DONE)
    assert played.sent[-1]["params"]["prompt"] == [{"type": "text", "text": "Words"}]


EDITS = {
    "gemini": Edit("/w/hello.txt", old="hi\n", new="ho\n"),
    "opencode": Edit(
        "/w/hello.txt",
        patch="Index: /w/hello.txt\n" + "=" * 67 + "\n--- /w/hello.txt\n+++ /w/hello.txt\n"
        "@@ -1,1 +1,1 @@\n-hi\n+ho\n",
    ),
    "copilot": Edit("/w/hello.txt", old="hi", new="ho"),
}


@pytest.mark.parametrize("agent", EDITS)
def test_an_edit(agent: str) -> None:
    played = begun(agent)
    events = turn(played, recorded(agent)["edit"])
    (asked,) = of(Asked, events)
    (started,) = [each for each in of(ToolStarted, events) if each.call == asked.call]
    (end,) = [each for each in of(ToolEnded, events) if each.call == asked.call]
    assert events.index(started) < events.index(asked) < events.index(end)
    assert asked.kind == started.kind == "edit"
    assert not end.failed
    assert end.edits == (EDITS[agent],)
    assert asked.edits
    assert events[-1] == TurnEnded(How.DONE)


def test_writing_through_us_is_refused() -> None:
    played = begun("opencode")
    events = turn(played, recorded("opencode")["edit"])
    (refusal,) = [each for each in played.sent if "error" in each]
    assert refusal["error"]["code"] == -32601
    assert of(Unread, events) == []


@pytest.mark.parametrize(
    ("agent", "name", "reason"),
    [
        ("gemini", "run_shell_command", "as asked"),
        ("opencode", "bash", ""),
        ("qwen", "run_shell_command", "as asked"),
    ],
)
def test_a_command(agent: str, name: str, reason: str) -> None:
    played = begun(agent)
    events = turn(played, recorded(agent)["shell"])
    (asked,) = of(Asked, events)
    assert asked.kind == "execute"
    assert asked.tool == name
    expected = "touch denied" if agent == "qwen" else "echo one > one.txt; echo out"
    assert asked.command == expected
    assert asked.cwd in ("/w", "")
    assert asked.reason == reason
    (end,) = of(ToolEnded, events)
    assert not end.failed
    assert not asked.choices


def test_what_a_command_prints_comes_as_it_prints_it() -> None:
    events = turn(begun("opencode"), recorded("opencode")["shell"])
    assert of(ToolOutput, events) == [ToolOutput("call_0006_0", "out\n")]
    (started,) = of(ToolStarted, events)
    assert started.input["command"] == "echo one > one.txt; echo out"  # the first message has none


def test_what_is_printed_so_far_comes_again() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    call = {"toolCallId": "c1", "kind": "execute", "status": "in_progress"}
    events = played.updates("tool_call", title="ls", **call)
    for so_far in ("a", "ab", "ab", "c"):
        content = [{"type": "content", "content": {"type": "text", "text": so_far}}]
        events += played.updates("tool_call_update", content=content, **call)
    assert [each.text for each in of(ToolOutput, events)] == ["a", "b", "c"]
    events = played.updates("tool_call_update", **{**call, "status": "completed"})
    assert of(ToolEnded, events) == [ToolEnded("c1")]
    assert played.updates("tool_call_update", **{**call, "status": "failed"}) == []


@pytest.mark.parametrize(
    ("agent", "option"),
    [("gemini", "cancel"), ("opencode", "reject"), ("copilot", "reject_once")],
)
def test_a_denial(agent: str, option: str) -> None:
    played = begun(agent)
    events = turn(played, recorded(agent)["denied"], DENIES)
    answer = next(each["result"] for each in played.sent if "outcome" in each.get("result", {}))
    assert answer == {"outcome": {"outcome": "selected", "optionId": option}}
    (end,) = of(ToolEnded, events)  # Gemini CLI says nothing more of it
    assert end.failed
    assert events[-1] == TurnEnded(How.DONE)


@pytest.mark.parametrize("agent", ["gemini", "opencode"])
@pytest.mark.parametrize("where", ["text", "tool", "ask"])
def test_a_stop(agent: str, where: str) -> None:
    played = begun(agent)
    lines = recorded(agent)[f"stopped in a{'n' if where == 'ask' else ''} {where}"]
    at = (
        next(at for at, line in enumerate(lines) if "request_permission" in line) + 1
        if (where != "text")
        else 1
    )
    played.does("prompt", "p1", ["Words"])
    before = played.hears(*lines[:at], answer=None if where == "ask" else Answer(True))
    events = played.does("stop")
    assert played.sent[-1 if where != "ask" else -2]["method"] == "session/cancel"
    if where == "ask":
        (asked,) = of(Asked, before)
        assert events == [AskGone(asked.ask)]
        assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}
        assert played.does("answer", asked.ask, Answer(True)) == []
        assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}
    events = played.hears(*lines[at:])
    assert events[-1] == TurnEnded(How.STOPPED)
    ended = {each.call for each in of(ToolEnded, events)}
    assert ended == {each.call for each in of(ToolStarted, [*before, *events])}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_story_of_a_conversation_is_no_event(agent: str) -> None:
    said = recorded(agent)
    talking = TALKING.of(agent)
    assert talking is not None
    played = Played(talking.opened(hold(session="a-session")).talker)
    # Some offer to go on without a story: here they do not.
    initialize = said["initialize"][0].replace('"resume":{}', '"other":{}')
    played.hears(initialize)
    assert played.last["method"] == "session/load"
    spoken_of = played.last["params"]["sessionId"]
    # By its plain id Gemini CLI would lose the conversation.
    assert spoken_of == (" a-session" if agent == "gemini" else "a-session")
    lines = [line.replace('"a-session"', f'"{spoken_of}"') for line in said["load"]]
    played.hears(*lines)
    if agent == "qwen":
        played.hears(*(line for line in said["mode"] if "LAST" in line))
    played.is_quiet()
    assert len(of(Opened, played.events)) == 1
    assert of(Text | ToolStarted | ToolEnded | TurnStarted | Unread, played.events) == []
    assert played.talker.session == "a-session"
    text = [line.replace('"a-session"', f'"{spoken_of}"') for line in said["text"]]
    events = turn(played, text)
    assert "".join(each.text for each in of(Text, events)) == "Hello there."


def test_gemini_is_open_when_nothing_more_comes_of_its_story() -> None:
    talking = TALKING.of("gemini")
    assert talking is not None
    played = Played(talking.opened(hold(session="a-session")).talker)
    played.hears(*recorded("gemini")["initialize"])
    lines = [line.replace('"a-session"', '" a-session"') for line in recorded("gemini")["load"]]
    assert played.talker.quiet_s is None  # it has not answered yet
    played.hears(*lines)
    assert of(Opened, played.events) == []
    assert len(of(Opened, played.is_quiet())) == 1
    assert played.is_quiet() == []


@pytest.mark.parametrize("agent", AGENTS)
def test_a_conversation_that_is_not_there(agent: str) -> None:
    talking = TALKING.of(agent)
    assert talking is not None
    played = Played(talking.opened(hold(session="another")).talker)
    played.hears(*recorded(agent)["initialize"])
    (trouble,) = played.hears(*recorded(agent)["no session"])
    assert isinstance(trouble, Troubled)
    assert trouble.trouble is Trouble.NO_SESSION


def test_it_goes_on_without_a_story_where_it_can() -> None:
    talking = TALKING.of("opencode")
    assert talking is not None
    played = Played(talking.opened(hold(session="a-session")).talker)
    played.hears(*recorded("opencode")["initialize"])
    assert played.last["method"] == "session/resume"
    played.hears(*recorded("opencode")["resume"])
    assert len(of(Opened, played.events)) == 1


def test_a_plan() -> None:
    events = turn(begun("opencode"), recorded("opencode")["plan"])
    steps = (PlanStep("first", "completed"), PlanStep("second", "in_progress"))
    assert of(Planned, events) == [Planned(steps)]
    told = opened()
    told.does("prompt", "p1", ["x"])
    entries = [{"content": "first", "status": "completed", "priority": "high"}, {"content": "b"}]
    plan = Planned((PlanStep("first", "completed"), PlanStep("b", "pending")))
    assert told.updates("plan", entries=entries)[-1] == plan


def test_a_compaction() -> None:
    played = begun("opencode")
    played.does("compact")
    assert played.last["params"]["prompt"] == [{"type": "text", "text": "/compact"}]
    events = played.hears(*recorded("opencode")["compact"])
    assert events[0] == TurnStarted(origin=Origin.ITSELF)
    assert of(Text, events) == []
    assert of(Compacted, events) == [Compacted(0, 117)]
    assert events[-1] == TurnEnded(How.DONE)
    assert begun("gemini").does("compact") == []


@pytest.mark.parametrize("agent", ["gemini", "opencode"])
def test_a_login_that_fails(agent: str) -> None:
    events = turn(begun(agent), recorded(agent)["login"])
    end = events[-1]
    assert isinstance(end, TurnEnded)
    assert end.how is How.FAILED
    assert "as the test says" in end.reason
    assert "{" not in end.reason
    # opencode hands on no status.
    kinds = [each.trouble for each in of(Troubled, events)]
    assert kinds == ([Trouble.LOGIN] if agent == "gemini" else [])
    assert of(PromptTaken, events) == []
    assert len(of(TurnStarted, events)) == 1


# -- Permissions -----------------------------------------------------------------------------------


def ask(played: Played, *options: tuple[str, str], **call: Any) -> list[Event]:
    """Have it ask for a tool; `options` are kinds and ids."""
    given = [{"kind": kind, "optionId": its, "name": its} for kind, its in options]
    params = {
        "sessionId": "a-session",
        "options": given,
        "toolCall": {"toolCallId": "c1", "title": "Do it", **call},
    }
    return played.hears(
        json.dumps({"id": 0, "method": "session/request_permission", "params": params}),
        answer=None,
    )


def test_allowing_for_good_writes_no_file() -> None:
    """Gemini CLI has a way that holds for the session; both ways of Qwen Code write a rule."""
    always = Answer(allows=True, always=True)
    gemini = begun("gemini")
    events = turn(gemini, recorded("gemini")["always"], always)
    assert [each.can_always for each in of(Asked, events)] == [True]
    assert {"outcome": "selected", "optionId": "proceed_always"} in [
        each["result"]["outcome"] for each in gemini.sent if "result" in each
    ]
    qwen = begun("qwen")
    events = turn(qwen, recorded("qwen")["shell"], always)
    assert [each.can_always for each in of(Asked, events)] == [False]
    assert {"outcome": "selected", "optionId": "proceed_once"} in [
        each["result"]["outcome"] for each in qwen.sent if "result" in each
    ]


def test_an_option_that_is_kept_on_disk_is_not_the_one_of_the_session() -> None:
    gemini = begun("gemini")
    gemini.does("prompt", "p1", ["x"])
    saved = ("allow_always", "proceed_always_and_save")
    (asked,) = of(Asked, ask(gemini, saved, ("allow_once", "once"), ("reject_once", "no")))
    assert not asked.can_always
    gemini.does("answer", asked.ask, Answer(allows=True, always=True))
    assert gemini.last["result"]["outcome"]["optionId"] == "once"


def test_an_ask_without_a_way_to_allow_once_is_refused_and_told() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_always", "ever"), ("reject_once", "no")))
    (trouble,) = played.does("answer", asked.ask, Answer(allows=True))
    assert isinstance(trouble, Troubled)
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_rejection_for_good_is_never_chosen() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_once", "yes"), ("reject_always", "never")))
    played.does("answer", asked.ask, Answer(allows=False))
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_the_id_of_an_ask_may_be_zero_and_comes_again() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    options = (("allow_once", "yes"), ("reject_once", "no"))
    (first,) = of(Asked, ask(played, *options))
    played.does("answer", first.ask, Answer(allows=True))
    assert played.last["id"] == 0
    (second,) = of(Asked, ask(played, *options))
    assert second.ask != first.ask
    assert played.does("answer", first.ask, Answer(allows=True)) == []
    assert "method" in played.sent[-2] or played.last["id"] == 0
    played.does("answer", second.ask, Answer(allows=False))
    assert played.last["result"]["outcome"]["optionId"] == "no"


def test_an_ask_after_a_stop_is_withdrawn_at_once() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    played.does("stop")
    assert of(Asked, ask(played, ("allow_once", "yes"), ("reject_once", "no"))) == []
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


def test_an_ask_that_is_open_as_the_turn_ends_is_gone() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_once", "yes")))
    events = played.says(id=3, result={"stopReason": "end_turn"})
    assert AskGone(asked.ask) in events
    assert ToolEnded("c1", failed=True) in events
    assert played.last["result"] == {"outcome": {"outcome": "cancelled"}}


@pytest.mark.parametrize(
    ("fields", "command", "cwd"),
    [
        ({"rawInput": {"command": ["ls", "a b"]}, "kind": "execute"}, "ls 'a b'", ""),
        ({"rawInput": {"cmd": "ls", "workdir": "/w/x"}, "kind": "execute"}, "ls", "/w/x"),
        ({"title": "`rm -rf x`", "kind": "execute"}, "rm -rf x", ""),
        ({"title": "a.txt", "kind": "edit", "rawInput": {"command": "insert"}}, "", ""),
    ],
)
def test_the_command_of_an_ask(fields: dict[str, Any], command: str, cwd: str) -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    (asked,) = of(Asked, ask(played, ("allow_once", "yes"), **fields))
    assert (asked.command, asked.cwd) == (command, cwd)


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
    assert isinstance(events[1], Opened)
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


# -- Its beginning ---------------------------------------------------------------------------------


def test_another_version_of_the_protocol_is_told() -> None:
    played = Played(ANY.opened(hold()).talker)
    (trouble,) = played.says(id=1, result={"protocolVersion": 2})
    assert isinstance(trouble, Troubled)
    assert len(played.sent) == 1


def test_a_login_is_needed() -> None:
    played = Played(ANY.opened(hold()).talker)
    played.says(id=1, result={"protocolVersion": 1})
    (trouble,) = played.says(id=2, error={"code": -32000, "message": "Authentication required"})
    assert trouble == Troubled(Trouble.LOGIN, "Authentication required")


def test_an_agent_that_goes_on_with_nothing() -> None:
    played = Played(ANY.opened(hold(session="a-session")).talker)
    (trouble,) = played.says(id=1, result={"protocolVersion": 1, "agentCapabilities": {}})
    assert isinstance(trouble, Troubled)
    assert trouble.trouble is Trouble.NO_SESSION


def test_pictures() -> None:
    picture = Picture("image/png", b"\x89PNG", "/w/a b.png")
    sees = Played(ANY.opened(hold()).talker)
    can = {"promptCapabilities": {"image": True}}
    sees.says(id=1, result={"protocolVersion": 1, "agentCapabilities": can})
    sees.says(id=2, result={"sessionId": "a-session"})
    sees.does("prompt", "p1", ["What?", picture])
    assert sees.last["params"]["prompt"][1] == {
        "type": "image",
        "mimeType": "image/png",
        "data": "iVBORw==",
    }
    blind = opened()
    blind.does("prompt", "p1", ["What?", picture])
    assert blind.last["params"]["prompt"][1]["uri"] == "file:///w/a%20b.png"


def test_what_the_model_is_told_beside_the_prompts_stands_before_the_first() -> None:
    played = Played(ANY.opened(hold(text="Be kind.")).talker)
    played.says(id=1, result={"protocolVersion": 1})
    played.says(id=2, result={"sessionId": "a-session"})
    for number, words in enumerate((["Be kind.", "One"], ["Two"]), 3):
        played.does("prompt", f"p{number}", [words[-1]])
        assert [each["text"] for each in played.last["params"]["prompt"]] == words
        played.says(id=number, result={"stopReason": "end_turn"})


# -- Whatever it says ------------------------------------------------------------------------------


def test_what_is_not_understood_is_unread() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    assert [type(each) for each in played.hears("no json", "[1]", '{"a": 1}')] == [Unread] * 3
    assert isinstance(played.updates("moonrise", x=1)[0], Unread)
    assert isinstance(played.says(method="other/notice", params={})[0], Unread)
    other = {"sessionId": "b", "update": {"sessionUpdate": "agent_message_chunk"}}
    assert isinstance(played.says(method="session/update", params=other)[0], Unread)
    (unread,) = played.says(id="x", method="craft/drain", params=[])
    assert isinstance(unread, Unread)
    assert played.last == {
        "jsonrpc": "2.0",
        "id": "x",
        "error": {"code": -32601, "message": "Method not found: craft/drain"},
    }
    text = {"type": "text", "text": "on"}
    assert of(Text, played.updates("agent_message_chunk", content=text)) == [Text("on")]


def test_a_word_to_no_prompt_is_no_event() -> None:
    played = opened()
    text = {"type": "text", "text": "by the way"}
    (unread,) = played.updates("agent_message_chunk", content=text)
    assert isinstance(unread, Unread)


def test_a_thought_is_apart() -> None:
    played = begun("gemini")
    played.does("prompt", "p1", ["x"])
    content = {"type": "text", "text": "****\nHm."}
    assert of(Thought, played.updates("agent_thought_chunk", content=content)) == [Thought("Hm.")]
    content = {"type": "text", "text": "**Title**\nHm."}
    (thought,) = of(Thought, played.updates("agent_thought_chunk", content=content))
    assert thought.text == "**Title**\nHm."


def test_a_line_of_five_megabytes() -> None:
    played = opened()
    played.does("prompt", "p1", ["x"])
    text = {"type": "text", "text": "x" * (5 << 20)}
    (said,) = of(Text, played.updates("agent_message_chunk", content=text))
    assert len(said.text) == 5 << 20


@pytest.mark.parametrize("agent", AGENTS)
@given(data=st.data())
def test_bytes_may_be_cut_anywhere(agent: str, data: st.DataObject) -> None:
    lines = recorded(agent)["text"]
    whole = begun(agent)
    expected = turn(whole, lines)
    played = begun(agent)
    played.does("prompt", "p1", ["Words"])
    raw = played.bytes_of(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    events: list[Event] = []
    for begin, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        events += played.talker.receive(raw[begin:end])
    assert events == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        *("content", "status", "title", "kind", "rawInput", "rawOutput", "locations", "toolCallId"),
        *("entries", "availableCommands", "configOptions", "currentModeId", "used", "size", "cost"),
    ]
)
KINDS = st.sampled_from(
    [
        *("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"),
        *("available_commands_update", "config_option_update", "current_mode_update"),
        "usage_update",
    ]
)


@given(kind=KINDS, fields=st.dictionaries(NAMES, JSON), status=st.sampled_from(["", "completed"]))
def test_odd_fields_break_nothing(kind: str, fields: dict[str, Any], status: str) -> None:
    talker = AcpTalker(hold(), UNKNOWN)
    played = Played(talker)
    played.says(id=1, result={"protocolVersion": 1, **fields})
    played.says(id=2, result={"sessionId": "a-session", "modes": fields, **fields})
    played.does("prompt", "p1", ["x"])
    played.updates(kind, **({"status": status} if status else {}) | fields)
    params = {"toolCall": fields, "options": fields, "sessionId": "a-session", **fields}
    played.says(id=9, method="session/request_permission", params=params)
    end = played.says(id=3, result={"stopReason": "end_turn", "usage": fields, "_meta": fields})
    assert of(TurnEnded, end) == [TurnEnded(How.DONE)]
