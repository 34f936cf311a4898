"""Codex' talker, played what a real app-server (0.169) has printed."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.talking.port import (
    Applied,
    Asked,
    AskGone,
    Choice,
    Compacted,
    Edit,
    How,
    InBackground,
    Offered,
    Opened,
    Origin,
    OwnModel,
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
from unit.agents.codex.held import (
    begun,
    lines_of,
    scenes_of,
    told,
)
from unit.agents.codex.scenes import Scene, act, played, scene

ODD: tuple[Any, ...] = (None, 7, "x", [{}])


def prompted(words: str) -> Scene:
    return scene(scenes_of("session"), parts=[words])


def after(found: Scene, number: int = 1) -> Scene:
    """Return a scene that comes after another one."""
    scenes = scenes_of("session")
    return scenes[scenes.index(found) + number]


def methods(found: Scene) -> list[str]:
    return [str(each.get("method", "answer")) for each in found.sent]


def test_it_opens_when_all_that_was_asked_is_answered() -> None:
    opening = scenes_of("session")[0]
    assert methods(opening) == [
        *("initialize", "initialized", "thread/start", "skills/list", "account/read"),
        "model/list",
    ]
    assert opening.sent[0]["params"]["capabilities"] == {"experimentalApi": True}
    applied, opened, offered = opening.events
    assert offered == Offered((OwnModel("gpt-6.1-sol", "GPT-6.1-Sol", efforts=("low", "high")),))
    assert applied == Applied(model="gpt-5.5", mode="", effort="")
    assert isinstance(opened, Opened)
    assert (opened.session, opened.model, opened.version) == ("id-1", "gpt-5.5", "0.169.0")
    assert [command.name for command in opened.commands] == ["$imagegen"]
    assert opened.modes == ("untrusted", "read-only", "auto", "full-access", "plan")


def test_a_turn_with_thoughts_and_text() -> None:
    found = prompted("How many?")
    (sent,) = found.sent
    assert sent["params"]["clientUserMessageId"] == "p1"
    assert found.events == [
        TurnStarted("p1"),
        PromptTaken("p1"),
        Thought("Hm, so many."),
        *(Text("There "), Text("are "), Text("four.")),
        Used(input=101, output=20, context=121, window=258400),
        TurnEnded(How.DONE),
    ]


def test_what_no_piece_has_said_is_told_at_the_end() -> None:
    assert after(prompted("Make it")).of(Text) == [Text("Done.")]


def test_always_is_for_the_session_and_is_not_asked_again() -> None:
    (asked,) = prompted("Make it").of(Asked)
    assert asked == Asked(
        ask="1",
        title="touch 1.txt",
        tool="shell",
        call="call_0002_0",
        kind="execute",
        command="touch 1.txt",
        cwd="/w",
        input={"command": "touch 1.txt"},
        can_always=True,
    )
    assert after(prompted("Make it")).sent == [
        {"id": 0, "result": {"decision": "acceptForSession"}}
    ]
    again = prompted("Make it again")
    assert again.of(Asked) == []
    started = ToolStarted(
        "call_0004_0", "shell", "touch 1.txt", "execute", {"command": "touch 1.txt", "cwd": "/w"}
    )
    assert again.of(ToolStarted) == [started]
    assert again.of(ToolEnded) == [ToolEnded("call_0004_0")]


def test_the_use_of_a_turn_is_what_the_total_grew_by() -> None:
    *_, used = prompted("Make it again").of(Used)
    assert (used.input, used.output, used.context) == (615 - 366 - 40, 40, 125)


def test_why_something_is_denied_is_steered_into_the_turn_before_the_denial() -> None:
    denied = after(prompted("Make the other"))
    steer, decline = denied.sent
    assert steer["method"] == "turn/steer"
    assert "because of the moon" in steer["params"]["input"][0]["text"]
    assert "clientUserMessageId" not in steer["params"]
    assert decline == {"id": 1, "result": {"decision": "decline"}}
    assert denied.of(PromptTaken) == []
    assert denied.of(ToolEnded) == [ToolEnded("call_0006_0", failed=True)]


def test_the_edits_of_a_patch() -> None:
    found = prompted("Change them")
    edits = (
        Edit("/w/a.txt", new="new\n"),
        Edit("/w/b.txt", "--- /w/b.txt\n+++ /w/b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"),
        Edit("/w/c.txt", old="gone\n"),
        Edit(
            "/w/e.txt",
            "rename from /w/d.txt\nrename to /w/e.txt\n--- /w/d.txt\n+++ /w/e.txt\n"
            "@@ -1,2 +1,2 @@\n x\n-y\n+z\n",
        ),
    )
    (started,), (asked,) = found.of(ToolStarted), found.of(Asked)
    assert (started.kind, started.edits, asked.edits) == ("edit", edits, edits)
    assert asked.title == "edit a.txt, b.txt, c.txt, e.txt"
    assert after(found).of(ToolEnded) == [ToolEnded(started.call, edits=edits)]


def test_a_steer_is_taken_when_its_item_has_started() -> None:
    steered = scene(scenes_of("session"), act="steer", parts=["Be brief"])
    (sent,) = steered.sent
    assert sent["params"]["expectedTurnId"] == "id-14"
    assert sent["params"]["clientUserMessageId"] == "p7"
    assert steered.of(PromptTaken) == [PromptTaken("p7")]
    assert steered.events[-1] == TurnEnded(How.DONE)


def test_a_stop_gives_back_the_steer_and_ends_the_command() -> None:
    stopped = after(scene(scenes_of("session"), act="steer", parts=["Too late"]))
    assert stopped.act == {"act": "stop"}
    assert stopped.events[-2:] == [
        ToolEnded("call_0012_0", failed=True),
        TurnEnded(How.STOPPED, left=("p9",)),
    ]
    terminals = "thread/backgroundTerminals"
    assert methods(stopped) == ["turn/interrupt", f"{terminals}/list", f"{terminals}/terminate"]
    assert stopped.sent[-1]["params"]["processId"]
    assert stopped.of(Used) != []


def test_what_was_asked_is_gone_after_a_stop() -> None:
    (asked,) = prompted("Make a third").of(Asked)
    stopped = after(prompted("Make a third"))
    assert stopped.events[-3:] == [
        ToolEnded("call_0013_0", failed=True),
        AskGone(asked.ask),
        TurnEnded(How.STOPPED),
    ]


def test_a_command_that_outlives_its_turn_is_in_the_background() -> None:
    allowed = after(prompted("Begin it"))
    ended = allowed.events.index(TurnEnded(How.DONE))
    assert allowed.events[ended - 1 :] == [
        InBackground(("sleep 1.5; echo over",)),
        TurnEnded(How.DONE),
        ToolOutput("call_0014_0", "over\n"),
        ToolEnded("call_0014_0", text="over\n"),
        InBackground(()),
    ]


def test_settings_are_read_back() -> None:
    scenes = scenes_of("session")
    changed = scene(scenes, act="set", model="gpt-5.4", effort="low")
    applied = Applied(model="gpt-5.4", mode="", effort="low")
    assert changed.events == [applied]
    assert after(changed).events == [applied]  # it was so already: Codex tells nothing
    assert scene(scenes, act="set", mode="plan").events == [applied._replace(mode="plan")]
    assert scene(scenes, act="set", mode="auto").events == [applied._replace(mode="auto")]


def test_it_is_compacted_in_a_turn_that_has_no_prompt() -> None:
    found = scene(scenes_of("session"), act="compact")
    assert found.events[0] == TurnStarted("", Origin.PROMPT)
    assert found.events[-2:] == [Compacted(before=135, after=11182), TurnEnded(How.DONE)]


def test_a_question_is_answered_by_its_id() -> None:
    found = prompted("Ask me")
    (asked,) = found.of(Asked)
    options = (("Blue", "Blue it is"), ("Red", "Red it is"))
    assert asked.choices == (Choice("Which colour?", options),)
    assert after(found).sent == [
        {"id": 7, "result": {"answers": {"colour": {"answers": ["Blue"]}}}}
    ]
    assert after(found).of(Text) == [Text("I see.")]


def test_what_a_helper_does_is_inside_the_call_that_began_it() -> None:
    scenes = scenes_of("helper")
    first, allowed = scenes[1:]
    (helper, wait, inner) = [each for found in scenes for each in found.of(ToolStarted)]
    assert (helper.name, helper.title, helper.inside) == ("spawn_agent", "helper counting", "")
    assert (wait.name, wait.inside) == ("wait", "")
    assert (inner.title, inner.inside) == ("echo sub", helper.call)
    assert first.of(TurnStarted) == [TurnStarted("p1")]
    assert allowed.of(Text) == [Text("There are two.", helper.call), Text("Two.")]
    assert [each.call for each in allowed.of(ToolEnded)] == [inner.call, helper.call, wait.call]
    assert allowed.of(TurnEnded) == [TurnEnded(How.DONE)]
    assert [each.input for each in allowed.of(Used)] == [204, 309]  # none of the helper's


def test_what_has_failed_is_told_with_its_reason() -> None:
    scenes = scenes_of("failed")
    (retried,) = scene(scenes, parts=["Say it"]).of(Troubled)
    assert retried.trouble is Trouble.LOGIN
    assert retried.message.startswith("Reconnecting... 1/5 (unexpected status 401 Unauthorized")
    assert scene(scenes, parts=["Say it"]).events[-1] == TurnEnded(How.DONE)
    message = "exceeded retry limit, last status: 429 Too Many Requests"
    assert scene(scenes, parts=["Say it again"]).events[-2:] == [
        Troubled(Trouble.LIMIT, message),
        TurnEnded(How.FAILED, message),
    ]
    (refused,) = scene(scenes, act="set", mode="silly").events
    assert isinstance(refused, Troubled)
    assert "unknown variant `silly`" in refused.message


@pytest.mark.parametrize("name", ["session", "helper", "failed"])
def test_nothing_that_was_recorded_is_unread(name: str) -> None:
    assert [each for found in scenes_of(name) for each in found.of(Unread)] == []


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20))
def test_any_cut_gives_the_same_events(sizes: list[int]) -> None:
    def cut(data: bytes) -> Iterator[bytes]:
        at, number = 0, 0
        while at < len(data):
            size = sizes[number % len(sizes)]
            yield data[at : at + size]
            at, number = at + size, number + 1

    scenes = played(begun(), lines_of("session"), cut)
    assert [found.events for found in scenes] == [found.events for found in scenes_of("session")]


def paths_of(value: Any) -> Iterator[tuple[Any, ...]]:
    yield ()
    inner: Any = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else inner:
        yield from ((key, *path) for path in paths_of(each))


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("name", ["session", "helper", "failed"])
def test_no_field_of_another_kind_raises_an_error(name: str) -> None:
    """Each field of each line, at its time; the talker of the recording goes on without it."""
    talker = begun()
    for line in lines_of(name):
        if "act" in line:
            act(talker, line)
            continue
        for path in paths_of(line):
            for odd in ODD:
                told(copy.deepcopy(talker), changed(line, path, odd))
        told(talker, line)
