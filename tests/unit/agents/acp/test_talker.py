"""The talker of ACP on what real agents have said, and how it begins."""

import pytest

from siding.agents.acp.calls import ToolCall
from siding.agents.acp.habits import UNKNOWN
from siding.agents.acp.talking import ANY
from siding.agents.talking.port import (
    TALKING,
    Answer,
    Asked,
    AskGone,
    CommandsChanged,
    Compacted,
    Edit,
    How,
    Opened,
    Origin,
    Picture,
    Planned,
    PlanStep,
    PromptTaken,
    Text,
    ToolEnded,
    ToolOutput,
    ToolStarted,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
    Unread,
)
from unit.agents.acp.replay import (
    AGENTS,
    DENIES,
    VERSIONS,
    Played,
    begun,
    hold,
    of,
    opened,
    recorded,
    turn,
)

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
    ("agent", "name", "cwd"),
    [
        ("gemini", "run_shell_command", "/w"),
        ("opencode", "bash", "/w"),
        ("qwen", "run_shell_command", ""),  # it does not say
    ],
)
def test_a_command(agent: str, name: str, cwd: str) -> None:
    played = begun(agent)
    events = turn(played, recorded(agent)["shell"])
    (asked,) = of(Asked, events)
    assert asked.kind == "execute"
    assert asked.tool == name
    expected = "touch denied" if agent == "qwen" else "echo one > one.txt; echo out"
    assert asked.command == expected
    assert asked.cwd == cwd
    assert asked.reason == "as asked"
    (end,) = of(ToolEnded, events)
    assert not end.failed
    assert not asked.choices


def test_what_a_command_prints_comes_as_it_prints_it() -> None:
    events = turn(begun("opencode"), recorded("opencode")["shell"])
    assert of(ToolOutput, events) == [ToolOutput("call_0006_0", "out\n")]
    (started,) = of(ToolStarted, events)
    assert started.input["command"] == "echo one > one.txt; echo out"  # the first message has none


def test_what_a_call_begins_with_is_not_what_it_prints() -> None:
    played = opened()
    for _turn in range(2):  # an agent may name a call of the next turn the same
        played.does("prompt", "p1", ["x"])
        content = [{"type": "content", "content": {"type": "text", "text": "[in /w] (why)"}}]
        call = {"toolCallId": "c1", "kind": "execute", "title": "ls", "content": content}
        events = played.updates("tool_call", status="in_progress", **call)
        assert len(of(ToolStarted, events)) == 1
        assert of(ToolOutput, events) == []
        played.updates("tool_call_update", toolCallId="c1", status="completed")
        assert of(ToolEnded, played.says(id=played.last_id, result={})) == []


def test_a_patch_without_a_file_is_of_the_file_that_the_call_is_about() -> None:
    habits = UNKNOWN._replace(patch=lambda said: str(said.get("diff", "")))
    call = ToolCall("c1", habits, {})
    call.take({"diff": "@@", "locations": [{"path": "/w/a"}]})
    assert call.edits == (Edit("/w/a", patch="@@"),)
    call.take({"diff": "@@ 2"})
    assert call.edits == (Edit("/w/a", patch="@@ 2"),)
    two = [{"type": "diff", "path": path, "newText": ""} for path in ("/w/a", "/w/b")]
    call.take({"diff": "@@ of both", "content": two})
    assert [(each.path, each.patch, each.new) for each in call.edits] == [
        ("/w/a", "", ""),
        ("/w/b", "", ""),
    ]


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
    ("agent", "option", "text"),
    [
        ("gemini", "cancel", ""),  # it says nothing more of the call
        (
            *("opencode", "reject"),
            "The user rejected permission to use this specific tool call.",
        ),
        ("copilot", "reject_once", "The user rejected this tool call."),
    ],
)
def test_a_denial(agent: str, option: str, text: str) -> None:
    played = begun(agent)
    events = turn(played, recorded(agent)["denied"], DENIES)
    answer = next(each["result"] for each in played.sent if "outcome" in each.get("result", {}))
    assert answer == {"outcome": {"outcome": "selected", "optionId": option}}
    (end,) = of(ToolEnded, events)
    assert end.failed
    assert end.text == text
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
