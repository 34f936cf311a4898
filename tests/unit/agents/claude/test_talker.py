"""The talker of Claude Code, over what its versions have printed: `talks-VERSION.txt`.

In a recording ``<`` is a line of the client and ``>`` one that it was sent; a section is a turn or
more. Replayed, the talker has to send the same, and its ids stand in the place of the recorded.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
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
    Choice,
    Compacted,
    Edit,
    Event,
    How,
    InBackground,
    Opened,
    Origin,
    Planned,
    PlanStep,
    PromptTaken,
    SessionChanged,
    Text,
    Thought,
    ToolEnded,
    ToolStarted,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
    Unread,
    Used,
)

VERSIONS = ("2.1.197", "2.1.329")
Message = dict[str, Any]


def sections(version: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    path = Path(__file__).parent / f"talks-{version}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            lines = found.setdefault(line[3:], [])
        else:
            lines.append(line)
    return found


RECORDED = {version: sections(version) for version in VERSIONS}


class Replay:
    """A recording, and the talker in the place of what spoke then."""

    def __init__(self, version: str, *names: str) -> None:
        recorded = RECORDED[version]
        lines = [line for name in names for line in recorded[name]]
        session = next(
            (told["session_id"] for told in map(_message, lines) if told.get("subtype") == "init"),
            "",
        )
        self.talker = ClaudeTalker(Start(session=session, cwd="/w", mode="default"))
        self.events: list[Event] = []
        self.sent: list[Message] = []
        self._ids: dict[str, str] = {}  # by the recorded one
        self._asked: dict[str, list[str]] = {}  # by subtype: what the talker has asked for
        for line in (*recorded["init"], *recorded["settings"]):
            self._step(line)
        self.opened, self.events = self.events, []
        for line in lines:
            self._step(line)

    def _step(self, line: str) -> None:
        told = _message(line)
        if line.startswith("< "):
            self._hear(told)
        elif line.startswith("> "):
            self._speak(told)

    def _hear(self, told: Message) -> None:
        response = told.get("response", {})
        if told["type"] == "control_response":
            response["request_id"] = self._ids.get(response["request_id"], response["request_id"])
        self.events += self.talker.receive(json.dumps(told).encode() + b"\n")
        self._take()

    def _speak(self, told: Message) -> None:
        if told["type"] == "control_request":
            what = told["request"]
            self._take()
            if not self._asked.get(what["subtype"]):
                self._ask(what)
                self._take()
            self._ids[told["request_id"]] = self._asked[what["subtype"]].pop(0)
            return
        if told["type"] == "user":
            begun = sum(isinstance(each, TurnStarted) for each in self.events)
            ended = sum(isinstance(each, TurnEnded) for each in self.events)
            say = self.talker.steer if begun > ended else self.talker.prompt
            say(told["uuid"], [told["message"]["content"][0]["text"]])
        else:
            self._answer(told["response"])
        self._take()
        assert self.sent[-1] == told

    def _ask(self, what: Message) -> None:
        match what["subtype"]:
            case "interrupt" | "cancel_async_message":
                self.talker.stop()
            case "set_model":
                self.talker.set(model=what["model"])
            case "set_permission_mode":
                self.talker.set(mode=what["mode"])
            case "apply_flag_settings":
                self.talker.set(effort=what["settings"]["effortLevel"])

    def _answer(self, response: Message) -> None:
        said = response["response"]
        answer = Answer(
            allows=said["behavior"] == "allow",
            always="updatedPermissions" in said,
            reason=said.get("message", ""),
            choices=said.get("updatedInput", {}).get("answers", {}),
        )
        self.talker.answer(response["request_id"], answer)

    def _take(self) -> None:
        for line in self.talker.to_send().splitlines():
            told = json.loads(line)
            self.sent.append(told)
            if told["type"] == "control_request":
                self._asked.setdefault(told["request"]["subtype"], []).append(told["request_id"])

    def of(self, *kinds: type) -> list[Event]:
        return [each for each in self.events if isinstance(each, kinds)]

    @property
    def prompts(self) -> list[str]:
        return [each["uuid"] for each in self.sent if each["type"] == "user"]


def _message(line: str) -> Message:
    found: Message = json.loads(line[2:]) if line[:2] in ("< ", "> ") else {}
    return found


@pytest.fixture(params=VERSIONS)
def replayed(request: pytest.FixtureRequest) -> Callable[..., Replay]:
    """Replay sections of what each version has said."""
    return lambda *names: Replay(request.param, *names)


Replayed = Callable[..., Replay]


def is_new(replay: Replay) -> bool:
    opened = replay.opened[0]
    return isinstance(opened, Opened) and bool(opened.version)


class TestTurns:
    def test_it_opens(self, replayed: Replayed) -> None:
        replay = replayed("text")
        opened, applied = replay.opened
        assert isinstance(opened, Opened)
        assert "/compact" in [each.name for each in opened.commands]
        assert all(each.about for each in opened.commands)
        assert opened.session == replay.talker.session
        assert isinstance(applied, Applied)
        assert applied.model.startswith("claude-opus")

    def test_a_text_comes_in_pieces_and_thoughts_apart(self, replayed: Replayed) -> None:
        replay = replayed("text")
        (prompt,) = replay.prompts
        assert replay.of(Text, Thought) == [
            *(Thought("Hm."), Text("one "), Text("two "), Text("three"))
        ]
        assert replay.events[0] in (TurnStarted(prompt), PromptTaken(prompt))
        assert replay.of(TurnStarted, PromptTaken) in (
            [TurnStarted(prompt), PromptTaken(prompt)],
            [PromptTaken(prompt), TurnStarted(prompt)],
        )
        used, end = replay.events[-2:]
        assert isinstance(used, Used)
        assert (used.input, used.output, used.context) == (101, 20, 101)
        assert used.window == 1_000_000
        assert end == TurnEnded(How.DONE)

    def test_what_a_turn_uses_is_that_of_the_turn(self, replayed: Replayed) -> None:
        """Its sum of money is that of the conversation."""
        replay = replayed("text", "tool write")
        first, second = replay.of(Used)
        assert isinstance(first, Used)
        assert isinstance(second, Used)
        assert (second.input, second.output, second.context) == (205, 40, 103)
        assert first.dollars is not None
        assert second.dollars is not None
        assert first.dollars < second.dollars < 3 * first.dollars

    def test_it_is_stopped_in_a_text(self, replayed: Replayed) -> None:
        """2.1.197 and 2.1.329 call the result of that a success."""
        replay = replayed("stop text")
        assert replay.events[-1] == TurnEnded(How.STOPPED)
        assert replay.sent[-1]["request"] == {"subtype": "interrupt"}

    def test_what_it_asks_is_gone_with_a_stop(self, replayed: Replayed) -> None:
        replay = replayed("stop ask")
        (asked,) = replay.of(Asked)
        assert isinstance(asked, Asked)
        assert replay.of(AskGone) == [AskGone(asked.ask)]
        assert replay.events[-1] == TurnEnded(How.STOPPED)
        replay.talker.answer(asked.ask, Answer(allows=True))
        assert replay.talker.to_send() == b""

    def test_a_shell_that_ends_begins_a_turn_of_its_own(self, replayed: Replayed) -> None:
        replay = replayed("bg shell")
        (prompt,) = replay.prompts
        assert replay.of(TurnStarted) == [
            TurnStarted(prompt),
            TurnStarted("", origin=Origin.ITSELF),
        ]
        assert replay.of(PromptTaken) == [PromptTaken(prompt)]
        assert [each.running for each in replay.events if isinstance(each, InBackground)] == [
            ("as asked",),
            (),
        ]
        assert len(replay.of(TurnEnded)) == 2

    def test_a_prompt_may_go_into_a_turn_that_began_by_itself(self) -> None:
        replay = Replay("2.1.329", "subagent", "todo")
        second = replay.prompts[-1]
        assert replay.of(TurnStarted, PromptTaken, TurnEnded)[-3:] == [
            TurnStarted("", origin=Origin.ITSELF),
            PromptTaken(second),
            TurnEnded(How.DONE),
        ]
        assert not replay.talker._turns.prompt

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

    @pytest.mark.parametrize("name", ["unknown cmd", "context"])
    def test_a_command_of_its_own_ends_as_a_turn(self, replayed: Replayed, name: str) -> None:
        """Older versions do not say that they have taken it."""
        replay = replayed(name)
        (prompt,) = replay.prompts
        assert sorted(map(str, replay.of(TurnStarted, PromptTaken, TurnEnded))) == sorted(
            map(str, [TurnStarted(prompt), PromptTaken(prompt), TurnEnded(How.DONE)])
        )
        assert "".join(each.text for each in replay.events if isinstance(each, Text))

    def test_a_compaction_repeats_nothing(self, replayed: Replayed) -> None:
        replay = replayed("compact")
        (compacted,) = replay.of(Compacted)
        assert isinstance(compacted, Compacted)
        assert compacted.before in (230, 233)
        assert replay.of(Text, ToolStarted, ToolEnded) == []
        assert replay.events[-1] == TurnEnded(How.DONE)

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

    def test_after_a_clear_it_has_another_id(self, replayed: Replayed) -> None:
        replay = replayed("context", "clear")
        (changed,) = replay.of(SessionChanged)
        assert changed == SessionChanged(replay.talker.session)
        assert len(replay.of(TurnEnded)) == 3
        assert replay.of(Text)[-1] == Text("ok")


class TestSteers:
    def test_one_goes_into_the_turn_while_a_tool_runs(self, replayed: Replayed) -> None:
        replay = replayed("steer tool")
        prompt, steer = replay.prompts
        assert replay.of(PromptTaken) == [PromptTaken(prompt), PromptTaken(steer)]
        assert replay.of(TurnEnded) == [TurnEnded(How.DONE)]

    def test_one_that_is_not_taken_is_left_at_a_stop(self, replayed: Replayed) -> None:
        replay = replayed("steer then cancel then stop")
        prompt, steer = replay.prompts
        assert replay.of(PromptTaken) == [PromptTaken(prompt)]
        assert replay.events[-1] == TurnEnded(How.STOPPED, left=(steer,))

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
    def test_a_file_is_written(self, replayed: Replayed) -> None:
        replay = replayed("tool write")
        started, asked, ended = replay.of(ToolStarted, Asked, ToolEnded)
        assert isinstance(started, ToolStarted)
        assert (started.name, started.kind, started.title) == ("Write", "edit", "Write /w/new.txt")
        written = (Edit("/w/new.txt", new="x\ny\n"),)
        assert started.edits == written
        assert isinstance(asked, Asked)
        assert (asked.edits, asked.can_always) == (written, False)
        assert isinstance(ended, ToolEnded)
        assert (ended.call, ended.failed, ended.edits) == (started.call, False, written)

    def test_a_file_is_changed(self, replayed: Replayed) -> None:
        replay = replayed("tool edit")
        read, edit = replay.of(ToolStarted)
        assert isinstance(read, ToolStarted)
        assert isinstance(edit, ToolStarted)
        assert (read.kind, edit.edits) == ("read", (Edit("/w/a.txt", old="one", new="1"),))
        ended = replay.of(ToolEnded)[-1]
        assert isinstance(ended, ToolEnded)
        patch = "--- /w/a.txt\n+++ /w/a.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
        assert ended.edits == (Edit("/w/a.txt", patch=patch),)

    def test_a_denial_has_its_reason(self, replayed: Replayed) -> None:
        replay = replayed("deny")
        (asked,) = replay.of(Asked)
        assert isinstance(asked, Asked)
        assert (asked.command, asked.cwd, asked.reason) == ("touch no", "/w", "as asked")
        (ended,) = replay.of(ToolEnded)
        assert isinstance(ended, ToolEnded)
        assert (ended.failed, ended.text) == (True, "no, because X")

    def test_always_is_a_rule_of_the_session(self, replayed: Replayed) -> None:
        """The client suggests a file in the workspace. (`_speak` compares what is sent.)"""
        replay = replayed("always")
        first, _second = replay.of(Asked)
        assert isinstance(first, Asked)
        assert first.can_always
        (answered, _again) = (each for each in replay.sent if each["type"] == "control_response")
        (rules,) = answered["response"]["response"]["updatedPermissions"]
        assert (rules["type"], rules["destination"]) == ("addRules", "session")

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

    def test_a_question_has_its_choices(self, replayed: Replayed) -> None:
        replay = replayed("question")
        (asked,) = replay.of(Asked)
        assert isinstance(asked, Asked)
        assert asked.choices == (Choice("Which colour?", (("Blue", "b"), ("Red", "r"))),)
        assert (asked.title, asked.can_always) == ("Which colour?", False)

    def test_a_helper_speaks_inside_of_its_call(self, replayed: Replayed) -> None:
        replay = replayed("subagent")
        outer = replay.of(ToolStarted)[0]
        assert isinstance(outer, ToolStarted)
        inner = replay.of(ToolStarted)[1]
        assert isinstance(inner, ToolStarted)
        assert (inner.name, inner.inside) == ("Bash", outer.call)
        mine = [each.text for each in replay.events if isinstance(each, Text) and not each.inside]
        assert mine == ["sub done"]
        helped = [each for each in replay.events if isinstance(each, Text) and each.inside]
        assert [each.inside for each in helped] == [outer.call] * len(helped)

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

    def test_a_tool_that_is_not_there_plans_nothing(self) -> None:
        assert Replay("2.1.329", "todo").of(Planned) == []


class TestSettings:
    def test_the_model_is_read_back(self, replayed: Replayed) -> None:
        replay = replayed("set model")
        (applied,) = replay.of(Applied)
        assert isinstance(applied, Applied)
        assert (applied.model, applied.mode) == ("claude-haiku-4-5", "default")

    def test_the_effort_is_read_back(self, replayed: Replayed) -> None:
        applied = replayed("effort").of(Applied)[-1]
        assert isinstance(applied, Applied)
        assert (applied.model, applied.effort) == ("claude-opus-4-5", "low")

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
    @pytest.mark.parametrize(("name", "trouble"), [("429", Trouble.LIMIT), ("401", Trouble.LOGIN)])
    def test_what_a_server_refuses(self, replayed: Replayed, name: str, trouble: Trouble) -> None:
        replay = replayed(name)
        again, last = replay.of(Troubled)
        assert isinstance(again, Troubled)
        assert isinstance(last, Troubled)
        assert (again.trouble, last.trouble) == (trouble, trouble)
        assert "it tries again (1 of 1)" in again.message
        assert "as the test says" in last.message
        assert replay.of(Text) == []
        end = replay.events[-1]
        assert isinstance(end, TurnEnded)
        assert (end.how, end.reason) == (How.FAILED, last.message)

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


# -- A talker of a newer version, by hand ----------------------------------------------------------

RESULT: Message = {"type": "result", "subtype": "success", "is_error": False}


@pytest.fixture
def talker() -> ClaudeTalker:
    """A talker that has said its first words."""
    found = ClaudeTalker(Start(session="S"))
    found.to_send()
    return found


def heard(talker: ClaudeTalker, told: Message) -> list[Event]:
    return talker.receive(json.dumps(told).encode() + b"\n")


def told_by(talker: ClaudeTalker) -> list[Message]:
    return [json.loads(line) for line in talker.to_send().splitlines()]


def begun(talker: ClaudeTalker, prompt: str = "p") -> None:
    """Have a turn run."""
    talker.prompt(prompt, ["Go"])
    talker.to_send()
    lifecycle = {"type": "command_lifecycle", "command_uuid": prompt, "state": "started"}
    assert heard(talker, lifecycle) == [TurnStarted(prompt), PromptTaken(prompt)]


def tool_use(call: str) -> Message:
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "true"}}
    return {"type": "assistant", "message": {"id": f"of {call}", "content": [block]}}


def replay_of(prompt: str) -> Message:
    return {"type": "user", "uuid": prompt, "message": {"content": "Go"}, "isReplay": True}


def answer_to(request: Message, response: Message) -> Message:
    answer = {"subtype": "success", "request_id": request["request_id"], "response": response}
    return {"type": "control_response", "response": answer}
