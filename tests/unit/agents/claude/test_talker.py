"""The talker of Claude Code, where no recording goes: what it is told stands here."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.claude.talker import ClaudeTalker, Start
from siding.agents.talking.port import (
    Answer,
    Applied,
    Asked,
    AskGone,
    Event,
    How,
    Origin,
    Planned,
    PlanStep,
    PromptTaken,
    ToolEnded,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
    Unread,
    Used,
)
from unit.agents.claude.by_hand import (
    RESULT,
    Message,
    answer_to,
    begun,
    heard,
    replay_of,
    told_by,
    tool_use,
)
from unit.agents.claude.recorded import RECORDED, Replay


@pytest.fixture
def talker() -> ClaudeTalker:
    """A talker that has said its first words."""
    found = ClaudeTalker(Start(session="S"))
    found.to_send()
    return found


class TestTurns:
    def test_a_prompt_waits_for_the_end_of_one_that_began_by_itself(
        self, talker: ClaudeTalker
    ) -> None:
        init = {"type": "system", "subtype": "init", "session_id": "S", "capabilities": []}
        talker.prompt("p", ["Go"])
        assert heard(talker, init) == [TurnStarted("", origin=Origin.ITSELF)]
        assert heard(talker, RESULT) == [TurnEnded(How.DONE)]
        assert heard(talker, {**init, "user_message_uuids": ["p"]}) == [TurnStarted("p")]
        assert heard(talker, replay_of("p")) == [PromptTaken("p")]
        assert heard(talker, RESULT) == [TurnEnded(How.DONE)]

    def test_the_same_of_an_older_version(self) -> None:
        """It does not name the prompts of a turn; but it has said that a shell has ended."""
        talker = ClaudeTalker(Start(session="S"))
        init = {"type": "system", "subtype": "init", "session_id": "S"}
        heard(talker, {"type": "system", "subtype": "task_notification", "task_id": "1"})
        talker.prompt("p", ["Go"])
        assert heard(talker, init) == [TurnStarted("", origin=Origin.ITSELF)]
        result = {**RESULT, "origin": {"kind": "task-notification"}}
        assert heard(talker, result) == [TurnEnded(How.DONE)]
        assert heard(talker, init) == [TurnStarted("p")]

    def test_whatever_is_asked_is_gone_when_the_turn_has_ended(self, talker: ClaudeTalker) -> None:
        begun(talker)
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
        heard(talker, {"type": "control_request", "request_id": "a", "request": request})
        assert heard(talker, RESULT) == [AskGone("a"), TurnEnded(How.DONE)]

    def test_what_came_from_the_cache_is_apart(self, talker: ClaudeTalker) -> None:
        begun(talker)
        usage = {
            "input_tokens": 5,
            "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": 100,
            "output_tokens": 3,
        }
        (used, _end) = heard(talker, {**RESULT, "usage": usage})
        assert used == Used(input=12, output=3, cached=100)

    def test_a_compaction_that_the_holder_wants_is_no_prompt_of_the_persons(self) -> None:
        talker = ClaudeTalker(Start())
        talker.to_send()
        talker.compact()
        told = json.loads(talker.to_send())
        assert told["message"]["content"] == [{"type": "text", "text": "/compact"}]
        lifecycle = {"type": "command_lifecycle", "command_uuid": told["uuid"], "state": "started"}
        assert heard(talker, lifecycle) == [TurnStarted("")]
        result = {"type": "result", "subtype": "success", "is_error": False}
        assert heard(talker, result) == [TurnEnded(How.DONE)]


class TestSteers:
    def test_in_a_text_it_is_not_sent(self, talker: ClaudeTalker) -> None:
        """The client would run it as a turn of its own, or merge it with the next prompt."""
        begun(talker)
        talker.steer("s", ["Be brief"])
        assert talker.to_send() == b""
        assert heard(talker, RESULT) == [TurnEnded(How.DONE, left=("s",))]

    def test_it_is_sent_with_the_next_tool(self, talker: ClaudeTalker) -> None:
        begun(talker)
        talker.steer("s", ["Be brief"])
        heard(talker, tool_use("t"))
        assert [each["uuid"] for each in told_by(talker)] == ["s"]

    def test_one_that_came_too_late_is_taken_back_before_the_turn_ends(
        self, talker: ClaudeTalker
    ) -> None:
        begun(talker)
        heard(talker, tool_use("t"))
        talker.steer("s", ["Be brief"])
        talker.to_send()
        assert heard(talker, RESULT) == []
        (withdrawn,) = told_by(talker)
        assert withdrawn["request"] == {"subtype": "cancel_async_message", "message_uuid": "s"}
        answered = heard(talker, answer_to(withdrawn, {"cancelled": True}))
        assert answered == [TurnEnded(How.DONE, left=("s",))]

    def test_one_that_has_begun_a_turn_of_its_own_is_that_turns_prompt(
        self, talker: ClaudeTalker
    ) -> None:
        begun(talker)
        heard(talker, tool_use("t"))
        talker.steer("s", ["Be brief"])
        talker.to_send()
        assert heard(talker, RESULT) == []
        (withdrawn,) = told_by(talker)
        lifecycle = {"type": "command_lifecycle", "command_uuid": "s", "state": "started"}
        assert heard(talker, lifecycle) == [
            TurnEnded(How.DONE),
            TurnStarted("s"),
            PromptTaken("s"),
        ]
        assert heard(talker, answer_to(withdrawn, {"cancelled": False})) == []
        assert heard(talker, RESULT) == [TurnEnded(How.DONE)]

    def test_the_same_of_an_older_version(self) -> None:
        talker = ClaudeTalker(Start(session="S"))
        init = {"type": "system", "subtype": "init", "session_id": "S"}
        talker.prompt("p", ["Go"])
        assert heard(talker, init) == [TurnStarted("p")]
        assert heard(talker, replay_of("p")) == [PromptTaken("p")]
        heard(talker, tool_use("t"))
        talker.steer("s", ["Be brief"])
        talker.to_send()
        assert heard(talker, RESULT) == []
        (withdrawn,) = told_by(talker)
        answered = heard(talker, answer_to(withdrawn, {"cancelled": False}))
        assert answered == [TurnEnded(How.DONE)]
        assert heard(talker, init) == [TurnStarted("s")]
        assert heard(talker, replay_of("s")) == [PromptTaken("s")]
        assert heard(talker, RESULT) == [TurnEnded(How.DONE)]

    def test_a_prompt_that_has_not_begun_is_stopped(self, talker: ClaudeTalker) -> None:
        talker.prompt("p", ["Go"])
        talker.to_send()
        talker.stop()
        withdrawn, interrupt = told_by(talker)
        assert interrupt["request"]["subtype"] == "interrupt"
        assert heard(talker, answer_to(withdrawn, {"cancelled": True})) == [TurnEnded(How.STOPPED)]
        begun(talker, "q")  # and the next is taken as ever

    def test_without_a_turn_there_is_nothing_to_stop(self, talker: ClaudeTalker) -> None:
        talker.stop()
        assert talker.to_send() == b""


class TestTools:
    @pytest.mark.parametrize(
        "suggested",
        [
            {"type": "setMode", "mode": "acceptEdits", "behavior": "allow"},
            {"type": "addDirectories", "directories": ["/"], "behavior": "allow"},
            {"type": "replaceRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"},
            {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "deny"},
        ],
    )
    def test_what_would_allow_more_is_not_suggested(
        self, talker: ClaudeTalker, suggested: Message
    ) -> None:
        request: Message = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}
        request["permission_suggestions"] = [suggested]
        (asked,) = heard(talker, {"type": "control_request", "request_id": "a", "request": request})
        assert isinstance(asked, Asked)
        assert not asked.can_always
        talker.answer("a", Answer(allows=True, always=True))
        (told,) = told_by(talker)
        assert "updatedPermissions" not in told["response"]["response"]

    def test_the_list_of_what_is_to_do(self, talker: ClaudeTalker) -> None:
        todos = [{"content": "A", "status": "in_progress"}, {"content": "B", "status": "pending"}]
        call = tool_use("t")
        call["message"]["content"][0] |= {"name": "TodoWrite", "input": {"todos": todos}}
        heard(talker, call)
        result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
        planned = heard(talker, {"type": "user", "message": {"content": [result]}})[-1]
        assert planned == Planned((PlanStep("A", "in_progress"), PlanStep("B", "pending")))
        assert Replay("2.1.329", "tasks").of(Planned) == [
            Planned((PlanStep("A", "pending"),)),
            Planned((PlanStep("A", "in_progress"),)),
        ]


class TestSettings:
    def test_it_is_asked_when_all_is_changed(self, talker: ClaudeTalker) -> None:
        """The client answers what it is asked side by side."""
        talker.set(model="m", mode="plan", effort="low")
        changes = told_by(talker)
        assert [each["request"]["subtype"] for each in changes] == [
            *("set_model", "apply_flag_settings", "set_permission_mode")
        ]
        assert heard(talker, answer_to(changes[2], {"mode": "plan"})) == []
        refused = {**answer_to(changes[0], {})["response"], "subtype": "error", "error": "no"}
        said = heard(talker, {"type": "control_response", "response": refused})
        assert said == [Troubled(Trouble.OTHER, "no")]
        assert talker.to_send() == b""
        heard(talker, answer_to(changes[1], {}))
        (asked,) = told_by(talker)
        applied = {"applied": {"model": "a", "effort": None}}
        assert heard(talker, answer_to(asked, applied)) == [Applied(model="a", mode="plan")]

    def test_a_mode_that_is_none_is_not_sent(self, talker: ClaudeTalker) -> None:
        """2.1.197 takes any word."""
        talker.set(mode="nonsense")
        (asked,) = told_by(talker)
        assert asked["request"]["subtype"] == "get_settings"
        troubled, applied = heard(talker, answer_to(asked, {}))
        assert isinstance(troubled, Troubled)
        assert "'nonsense' is no mode" in troubled.message
        assert isinstance(applied, Applied)

    def test_the_mode_may_change_by_itself(self, talker: ClaudeTalker) -> None:
        status = {"type": "system", "subtype": "status", "permissionMode": "plan"}
        assert heard(talker, status) == [Applied(mode="plan")]
        assert heard(talker, status) == []

    def test_an_effort_may_be_given_at_the_start(self) -> None:
        talker = ClaudeTalker(Start(effort="low"))
        (initialize,) = told_by(talker)
        heard(talker, answer_to(initialize, {}))
        (change,) = told_by(talker)
        assert change["request"]["settings"] == {"effortLevel": "low"}


class TestTroubles:
    def test_a_limit_says_until_when(self, talker: ClaudeTalker) -> None:
        info = {"status": "rejected", "resetsAt": 1795856097, "rateLimitType": "five_hour"}
        event = {"type": "rate_limit_event", "rate_limit_info": info}
        assert heard(talker, event) == [
            Troubled(Trouble.LIMIT, "a limit is reached: five hour", "2026-11-28T08:54:57+00:00")
        ]
        info["status"] = "allowed"
        assert heard(talker, event) == []

    def test_a_conversation_that_is_not_there(self, talker: ClaudeTalker) -> None:
        said = "No conversation found with session ID: 1"
        failed = {"subtype": "error_during_execution", "is_error": True, "errors": [said]}
        assert heard(talker, {"type": "result", **failed}) == [Troubled(Trouble.NO_SESSION, said)]


class TestLines:
    """What is odd is passed over, and the talker goes on."""

    @given(st.lists(st.integers(1, 4000), max_size=30))
    def test_where_the_bytes_are_cut_makes_no_difference(self, cuts: list[int]) -> None:
        lines = [
            line[2:]
            for name in ("text", "steer tool")
            for line in RECORDED["2.1.329"][name]
            if line.startswith("< ")
        ]
        data = "\n".join([*lines, ""]).encode()
        whole, cut = ClaudeTalker(Start()), ClaudeTalker(Start())
        found: list[Event] = []
        at = 0
        for size in cuts:
            found += cut.receive(data[at : at + size])
            at += size
        found += cut.receive(data[at:])
        assert found == whole.receive(data)
        assert cut.to_send() == whole.to_send()

    def test_a_line_of_five_million_bytes_is_legal(self, talker: ClaudeTalker) -> None:
        begun(talker)
        heard(talker, tool_use("t"))
        said = "x" * 5_000_000
        result = {"type": "tool_result", "tool_use_id": "t", "content": said}
        (ended,) = heard(talker, {"type": "user", "message": {"content": [result]}})
        assert isinstance(ended, ToolEnded)
        assert ended.text == said

    @pytest.mark.parametrize("line", ['{"type": "result"', "Warning: no", "[1]", '{"type": 0}'])
    def test_what_it_does_not_know_is_kept(self, talker: ClaudeTalker, line: str) -> None:
        begun(talker)
        assert talker.receive(line.encode() + b"\n") == [Unread(line)]
        assert heard(talker, RESULT) == [TurnEnded(How.DONE)]

    def test_a_request_that_it_does_not_know_is_refused(self, talker: ClaudeTalker) -> None:
        request = {"subtype": "elicitation"}
        line = {"type": "control_request", "request_id": "0", "request": request}
        assert len(heard(talker, line)) == 1
        (answer,) = told_by(talker)
        assert (answer["response"]["subtype"], answer["response"]["request_id"]) == ("error", "0")

    @given(st.data())
    def test_whatever_a_field_holds(self, data: st.DataObject) -> None:
        """Each field of each recorded line is something else in turn."""
        lines = [
            line[2:]
            for name in ("init", "tool edit", "bg shell", "compact", "question", "429")
            for line in RECORDED["2.1.329"][name]
            if line.startswith("< ")
        ]
        told = json.loads(data.draw(st.sampled_from(lines)))
        places = [*_places(told)]
        holder, key = data.draw(st.sampled_from(places))
        holder[key] = data.draw(st.sampled_from([None, 0, "", [], {}, [None], {"a": 1}, "x", True]))
        talker = ClaudeTalker(Start())
        begun(talker)
        heard(talker, told)
        heard(talker, tool_use("after"))


def _places(told: Any) -> Iterator[tuple[Any, Any]]:
    for key in told if isinstance(told, dict) else range(len(told)):
        yield told, key
        if isinstance(told[key], dict | list):
            yield from _places(told[key])
