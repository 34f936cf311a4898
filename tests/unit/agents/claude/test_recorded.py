"""What versions of Claude Code have printed, replayed to its talker."""

from collections.abc import Callable

import pytest

from siding.agents.talking.port import (
    Answer,
    Applied,
    Asked,
    AskGone,
    Choice,
    Compacted,
    Edit,
    How,
    InBackground,
    Opened,
    Origin,
    Planned,
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
    Used,
)
from unit.agents.claude.recorded import VERSIONS, Replay

Replayed = Callable[..., Replay]


@pytest.fixture(params=VERSIONS)
def replayed(request: pytest.FixtureRequest) -> Callable[..., Replay]:
    """Replay sections of what each version has said."""
    return lambda *names: Replay(request.param, *names)


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
