"""Codex' talker, played what a real app-server (0.169) has printed."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.codex.talking import TALKING
from siding.agents.talking.port import (
    Answer,
    Applied,
    Asked,
    AskGone,
    Choice,
    CommandsChanged,
    Compacted,
    Edit,
    Event,
    Hold,
    How,
    InBackground,
    Opened,
    Origin,
    OwnCommand,
    Picture,
    Planned,
    PlanStep,
    PromptTaken,
    Talker,
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
from unit.agents.codex.scenes import Lines, Scene, act, played, recorded, scene, sent_by

RECORDINGS = Path(__file__).parent
ODD: tuple[Any, ...] = (None, 7, "x", [{}])


def begun(**fields: Any) -> Talker:
    hold = Hold(program=("codex",), cwd=Path("/w"), env={"HOME": "/home/nobody"})
    return TALKING.opened(hold._replace(**fields)).talker


@cache
def lines_of(name: str) -> Lines:
    return recorded(RECORDINGS / f"{name}-0.169.0.jsonl")


def scenes_of(name: str) -> list[Scene]:
    return played(begun(), lines_of(name))


def prompted(words: str) -> Scene:
    return scene(scenes_of("session"), parts=[words])


def after(found: Scene, number: int = 1) -> Scene:
    """Return a scene that comes after another one."""
    scenes = scenes_of("session")
    return scenes[scenes.index(found) + number]


def methods(found: Scene) -> list[str]:
    return [str(each.get("method", "answer")) for each in found.sent]


def told(talker: Talker, *messages: Any) -> list[Event]:
    return talker.receive(b"".join(json.dumps(each).encode() + b"\n" for each in messages))


def opened_talker() -> Talker:
    """Return a talker whose thread is there, and nothing else."""
    talker = begun()
    lines = lines_of("session")
    first = next(at for at, line in enumerate(lines) if "act" in line)
    played(talker, lines[:first])
    return talker


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "id-1", "turnId": "t", **params}}


# -- What was recorded -----------------------------------------------------------------------------


def test_it_opens_when_all_that_was_asked_is_answered() -> None:
    opening = scenes_of("session")[0]
    assert methods(opening) == [
        *("initialize", "initialized", "thread/start", "skills/list", "account/read")
    ]
    assert opening.sent[0]["params"]["capabilities"] == {"experimentalApi": True}
    applied, opened = opening.events
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


# -- What is rare ----------------------------------------------------------------------------------


def test_a_turn_is_stopped_as_soon_as_it_has_started() -> None:
    talker = opened_talker()
    talker.stop()  # no turn runs
    assert sent_by(talker) == []
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    talker.stop()
    assert told(talker, {"id": prompt["id"], "result": {"turn": {"id": "t"}}}) == []
    assert sent_by(talker) == []
    told(talker, notice("turn/started", turn={"id": "t"}))
    (interrupt,) = sent_by(talker)
    assert (interrupt["method"], interrupt["params"]["turnId"]) == ("turn/interrupt", "t")
    (ended,) = told(talker, notice("turn/completed", turn={"id": "t", "status": "interrupted"}))
    assert ended == TurnEnded(How.STOPPED)
    talker.stop()
    assert sent_by(talker) == []


def running() -> Talker:
    """Return a talker whose turn ``t`` runs."""
    talker = opened_talker()
    told(talker, notice("turn/started", turn={"id": "t"}))
    return talker


def approval(turn: str = "t", thread: str = "id-1") -> dict[str, Any]:
    line = notice("item/commandExecution/requestApproval", itemId="i", command="ls")
    return {"id": 0, **line, "params": {**line["params"], "turnId": turn, "threadId": thread}}


def test_nothing_is_answered_while_it_stops_unless_the_stop_is_refused() -> None:
    talker = running()
    (asked,) = told(talker, approval())
    assert isinstance(asked, Asked)
    talker.stop()
    (interrupt,) = sent_by(talker)
    talker.answer(asked.ask, Answer(allows=True))
    assert sent_by(talker) == []
    refused = {"id": interrupt["id"], "error": {"code": -1, "message": "not now"}}
    assert told(talker, refused) == [Troubled(Trouble.OTHER, "not now")]
    talker.answer(asked.ask, Answer(allows=True))
    assert sent_by(talker) == [{"id": 0, "result": {"decision": "accept"}}]


def test_an_answer_to_nothing_is_passed_over() -> None:
    talker = running()
    talker.answer("99", Answer(allows=True))
    talker.answer("99", Answer(allows=False, reason="no"))
    assert sent_by(talker) == []


def test_a_reason_goes_only_with_a_denial_of_what_the_model_does() -> None:
    talker = running()
    (asked,) = told(talker, approval())
    assert isinstance(asked, Asked)
    talker.answer(asked.ask, Answer(allows=True, reason="it is safe"))
    assert sent_by(talker) == [{"id": 0, "result": {"decision": "accept"}}]
    questions = [{"id": "q", "question": "Which?", "options": None}]
    (asked,) = told(talker, asks("item/tool/requestUserInput", questions=questions))
    assert isinstance(asked, Asked)
    talker.answer(asked.ask, Answer(allows=False, reason="none of them"))
    assert sent_by(talker) == [{"id": "x", "result": {"answers": {}}}]


def test_a_steer_after_a_stop_is_not_sent_and_is_left() -> None:
    talker = running()
    talker.stop()
    sent_by(talker)
    talker.steer("p2", ["Briefly"])
    assert sent_by(talker) == []
    ended = told(talker, notice("turn/completed", turn={"id": "t", "status": "interrupted"}))
    assert ended == [TurnEnded(How.STOPPED, left=("p2",))]


SETTINGS: Mapping[str, tuple[dict[str, str], dict[str, Any], bool]] = {
    # What is set; the inner settings of a mode, if one is; whether it was so before.
    "the model that it has": ({"model": "m"}, {}, True),
    "another model": ({"model": "n"}, {}, False),
    "the effort that it has": ({"effort": "low"}, {}, True),
    "another effort": ({"effort": "high"}, {}, False),
    "the model, and another effort": ({"model": "m", "effort": "high"}, {}, False),
    "the mode that it has": ({"mode": "auto"}, {"model": "m", "reasoning_effort": "low"}, True),
    "another mode": ({"mode": "plan"}, {"model": "m", "reasoning_effort": "low"}, False),
    "all": (
        {"mode": "plan", "model": "n", "effort": "high"},
        {"model": "n", "reasoning_effort": "high"},
        False,
    ),
}


@pytest.mark.parametrize("case", list(SETTINGS))
def test_a_mode_is_set_with_the_model_and_the_effort_that_hold(case: str) -> None:
    wanted, inner, was_so = SETTINGS[case]
    talker = opened_talker()
    policy = {"approvalPolicy": "on-request", "sandboxPolicy": {"type": "workspaceWrite"}}
    now = {"model": "m", "effort": "low", **policy}
    told(talker, notice("thread/settings/updated", threadSettings=now))
    talker.set(**wanted)
    (sent,) = sent_by(talker)
    mode = sent["params"].get("collaborationMode", {}).get("settings", {})
    assert {name: mode[name] for name in inner} == inner
    assert bool(mode) is bool(inner)
    answer = told(talker, {"id": sent["id"], "result": {}})
    assert answer == ([Applied("m", "auto", "low")] if was_so else [])


def test_a_server_that_does_not_begin_is_told() -> None:
    talker = begun()
    (first,) = sent_by(talker)
    error = {"code": -32600, "message": "too old"}
    assert told(talker, {"id": first["id"], "error": error}) == [Troubled(Trouble.OTHER, "too old")]
    assert sent_by(talker) == []


def test_a_stop_that_comes_too_late_is_no_trouble() -> None:
    talker = running()
    talker.stop()
    (interrupt,) = sent_by(talker)
    told(talker, notice("turn/completed", turn={"id": "t", "status": "completed"}))
    refused = {"id": interrupt["id"], "error": {"code": -1, "message": "no active turn"}}
    assert told(talker, refused) == []


def test_what_a_helper_asks_is_gone_when_its_turn_is() -> None:
    talker = running()
    (asked,) = told(talker, approval("u", "helper"))
    assert isinstance(asked, Asked)
    ended = {"turn": {"id": "u", "status": "interrupted"}, "threadId": "helper"}
    assert told(talker, notice("turn/completed", **ended)) == [AskGone(asked.ask)]
    talker.answer(asked.ask, Answer(allows=True))
    assert sent_by(talker) == []


def test_what_codex_takes_back_is_gone_and_a_denial_under_way_is_not_sent() -> None:
    talker = running()
    (asked,) = told(talker, approval())
    assert isinstance(asked, Asked)
    taken_back = notice("serverRequest/resolved", requestId=0)
    assert told(talker, taken_back, taken_back) == [AskGone(asked.ask)]
    (again,) = told(talker, approval())
    assert isinstance(again, Asked)
    assert again.ask != asked.ask
    talker.answer(again.ask, Answer(allows=False, reason="no"))
    talker.answer(again.ask, Answer(allows=True))  # it was answered
    (steer,) = sent_by(talker)
    assert told(talker, taken_back) == [AskGone(again.ask)]
    told(talker, {"id": steer["id"], "result": {"turnId": "t"}})
    assert sent_by(talker) == []


def test_a_steer_waits_until_the_turn_has_started_and_comes_back_if_it_is_refused() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Talk"])
    talker.steer("p2", ["Briefly"])
    (prompt,) = sent_by(talker)
    told(talker, {"id": prompt["id"], "result": {"turn": {"id": "t"}}})
    told(talker, notice("turn/started", turn={"id": "t"}))
    (steer,) = sent_by(talker)
    assert steer["method"] == "turn/steer"
    refused = {"id": steer["id"], "error": {"code": -32600, "message": "no active turn to steer"}}
    assert told(talker, refused) == []
    ended = {"id": "t", "status": "completed"}
    assert told(talker, notice("turn/completed", turn=ended)) == [TurnEnded(How.DONE, left=("p2",))]
    # What comes after all is told, and given back once.
    late = notice("item/started", item={"type": "userMessage", "id": "i", "clientId": "p2"})
    assert told(talker, late, late) == [PromptTaken("p2")]
    assert told(talker, notice("turn/completed", turn=ended)) == [TurnEnded(How.DONE)]


def test_a_prompt_that_is_refused_ends_its_turn() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    refused = {"id": prompt["id"], "error": {"code": -32600, "message": "no"}}
    assert told(talker, refused) == [TurnEnded(How.FAILED, "no")]


def test_a_turn_that_nobody_prompted_and_a_prompt_that_goes_into_it() -> None:
    talker = opened_talker()
    assert told(talker, notice("turn/started", turn={"id": "t"})) == [
        TurnStarted("", Origin.ITSELF)
    ]
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    told(talker, {"id": prompt["id"], "result": {"turn": {"id": "t"}}})
    talker.stop()
    (interrupt,) = sent_by(talker)
    assert interrupt["params"]["turnId"] == "t"


def test_a_prompt_waits_for_the_turn_that_it_begins_behind_one_of_codex_own() -> None:
    talker = opened_talker()
    talker.compact()
    told(talker, notice("turn/started", turn={"id": "t"}))
    talker.prompt("p1", ["Talk"])
    _compact, prompt = sent_by(talker)
    told(talker, {"id": prompt["id"], "result": {"turn": {"id": "u"}}})
    ended = {"id": "t", "status": "completed"}
    assert told(talker, notice("turn/completed", turn=ended)) == [TurnEnded(How.DONE)]
    talker.stop()  # the prompt is on its way
    began = told(talker, notice("turn/started", turn={"id": "u"}))
    assert began == [TurnStarted("p1")]
    assert [each["method"] for each in sent_by(talker)] == ["turn/interrupt"]
    told(talker, notice("turn/completed", turn={"id": "u", "status": "interrupted"}))
    began = told(talker, notice("turn/started", turn={"id": "v"}))
    assert began == [TurnStarted("", Origin.ITSELF)]
    assert sent_by(talker) == []


def test_the_stop_of_a_prompt_that_is_refused_stops_nothing_else() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    talker.stop()
    told(talker, {"id": prompt["id"], "error": {"code": -1, "message": "no"}})
    told(talker, notice("turn/started", turn={"id": "t"}))
    assert sent_by(talker) == []


def test_a_picture_goes_with_its_bytes() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Which?", Picture("image/png", b"\x89P")])
    (prompt,) = sent_by(talker)
    assert prompt["params"]["input"][1] == {"type": "image", "url": "data:image/png;base64,iVA="}


REFUSED: Mapping[str, tuple[str, Trouble, str]] = {
    "held elsewhere": (
        "thread id-1 already has an active writer",
        Trouble.OTHER,
        "open in another Codex",
    ),
    "gone": ("no rollout found for thread id id-1", Trouble.NO_SESSION, "no rollout"),
    "no id": ("invalid session id: invalid character", Trouble.NO_SESSION, "invalid"),
    "else": ("disk full", Trouble.OTHER, "disk full"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_a_thread_that_does_not_open(case: str) -> None:
    says, trouble, message = REFUSED[case]
    talker = begun(session="id-1")
    (first,) = sent_by(talker)
    told(talker, {"id": first["id"], "result": {}})
    _initialized, resume = sent_by(talker)
    assert (resume["method"], resume["params"]["threadId"]) == ("thread/resume", "id-1")
    assert resume["params"]["excludeTurns"] is True
    error = {"code": -32600, "message": says}
    (found,) = told(talker, {"id": resume["id"], "error": error})
    assert isinstance(found, Troubled)
    assert found.trouble is trouble
    assert message in found.message
    assert talker.session == ""


def test_settings_that_are_set_as_it_opens_are_set_before_it_is_open() -> None:
    talker = begun(mode="plan", effort="low")
    sent_by(talker)
    told(talker, {"id": 1, "result": {}})
    _initialized, start = sent_by(talker)
    assert start["params"]["config"] == {"model_reasoning_effort": "low"}
    told(talker, {"id": start["id"], "result": {"thread": {"id": "id-1"}, "model": "m"}})
    *others, settings = sent_by(talker)
    assert settings["params"]["collaborationMode"]["mode"] == "plan"
    assert settings["params"]["effort"] == "low"
    found = told(talker, *({"id": each["id"], "result": {}} for each in others))
    assert found == []
    kept = {"collaborationMode": {"mode": "plan"}, "model": "m", "effort": "low"}
    settled = notice("thread/settings/updated", threadSettings=kept)
    assert told(talker, settled) == []
    applied, opened = told(talker, {"id": settings["id"], "result": {}})
    assert applied == Applied(model="m", mode="plan", effort="low")
    assert isinstance(opened, Opened)


@pytest.mark.parametrize(("wanted", "is_set"), [("low", True), ("high", False), ("", False)])
def test_an_effort_that_the_thread_has_not_is_set(wanted: str, is_set: bool) -> None:
    talker = begun(effort=wanted)
    sent_by(talker)
    told(talker, {"id": 1, "result": {}})
    told(talker, {"id": 2, "result": {"thread": {"id": "id-1"}, "reasoningEffort": "high"}})
    methods = [each["method"] for each in sent_by(talker)[2:]]
    assert ("thread/settings/update" in methods) is is_set


@pytest.mark.parametrize(
    "account",
    [
        {"requiresOpenaiAuth": True, "account": {"type": "apiKey"}},
        {"requiresOpenaiAuth": False, "account": None},
    ],
)
def test_a_login_that_is_there_or_not_needed_is_no_trouble(account: dict[str, Any]) -> None:
    talker = begun()
    sent_by(talker)
    told(talker, {"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "id-1"}}})
    opened = told(talker, {"id": 3, "result": {}}, {"id": 4, "result": account})
    assert [type(each) for each in opened] == [Applied, Opened]


def test_it_says_that_nobody_is_logged_in() -> None:
    talker = begun()
    sent_by(talker)
    told(talker, {"id": 1, "result": {}})
    told(talker, {"id": 2, "result": {"thread": {"id": "id-1"}}})
    skills, account = sent_by(talker)[2:]
    without = {"requiresOpenaiAuth": True, "account": None}
    (trouble,) = told(talker, {"id": account["id"], "result": without})
    assert isinstance(trouble, Troubled)
    assert trouble.trouble is Trouble.LOGIN
    assert isinstance(told(talker, {"id": skills["id"], "result": {}})[-1], Opened)


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


def asks(method: str, **params: Any) -> dict[str, Any]:
    return {"id": "x", **notice(method, itemId="i", **params)}


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
