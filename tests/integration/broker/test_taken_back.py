"""What was taken back of an agent's turns: what the agent is told, and `siding rewind`."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox import SIDING, Sandbox
from terminal import Terminal

from .inside import Foothold, foothold

SESSION = "0f343741-ae22-4493-b1bd-08f9aa0f342b"


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "talks")
    return sandbox


@pytest.fixture
def run(task: Sandbox) -> Iterator[Foothold]:
    with foothold(task) as found:
        yield found


def says(run: Foothold, event: str, **fields: Any) -> str:
    """Report as Claude Code does; return what its model is told."""
    payload = {"session_id": SESSION, "transcript_path": "/t/s1.jsonl", "hook_event_name": event}
    told = run.line().result("report", agent="claude", payload={**payload, **fields})
    return str(told["output"])


def turn(run: Foothold, prompt: str, file: str) -> str:
    """Have a turn make a file; return what the model was told as it began."""
    told = says(run, "UserPromptSubmit", prompt=prompt, prompt_id=f"id of {prompt}")
    (run.workspace / file).write_text(prompt)
    says(run, "Stop")
    return told


def made(run: Foothold) -> list[str]:
    return sorted(path.name for path in run.workspace.glob("?.txt"))


def ids(task: Sandbox) -> list[str]:
    """The steps of the turns."""
    return [str(each["step_id"]) for each in task.json("rewind", "--list", "--json")]


class TestTheAgentIsTold:
    def test_of_nothing_when_nothing_was_taken_back(self, run: Foothold) -> None:
        assert turn(run, "Make a", "a.txt") == ""
        run.task.siding("checkpoint", "-m", "mine")
        assert turn(run, "Make b", "b.txt") == ""

    def test_once_of_what_was_and_of_what_was_done_again(self, run: Foothold) -> None:
        turn(run, "Make a", "a.txt")
        turn(run, "Make b", "b.txt")
        run.task.siding("undo")
        told = says(run, "UserPromptSubmit", prompt="Where is b?")
        assert "Taken back: your work on \\u201cMake b\\u201d." in told
        assert "Make a" not in told
        run.task.siding("redo")
        told = says(run, "UserPromptSubmit", prompt="And now?")
        assert "Done again, as you left it: your work on \\u201cMake b\\u201d." in told
        assert "Taken back" not in told
        assert says(run, "UserPromptSubmit", prompt="Go on") == ""
        self.agent_that_asks_by_itself(run)

    def agent_that_asks_by_itself(self, run: Foothold) -> None:
        """It says which step it knows of, and is told of turns only if one was gone back since."""
        asked = run.line().result("turns", session=SESSION)
        assert [each["stands"] for each in asked["turns"]][:2] == [True, True]
        later = run.line().result("turns", session=SESSION, since=asked["step"])
        assert later == {"step": asked["step"], "turns": None}
        earlier = run.line().result("turns", session=SESSION, since=1)
        assert earlier == asked

    def test_of_files_that_went_back_without_a_turn(self, run: Foothold) -> None:
        turn(run, "Make a", "a.txt")
        run.task.siding("rollback", "--base", "--files")
        told = says(run, "UserPromptSubmit", prompt="Go on")
        assert "moved your workspace" in told
        assert "Taken back" not in told

    def test_in_a_later_run_that_goes_on_with_all_of_the_conversation(self, task: Sandbox) -> None:
        with foothold(task) as first:
            turn(first, "Make a", "a.txt")
            turn(first, "Make b", "b.txt")
        task.siding("undo", "--force")
        with foothold(task) as second:
            told = says(second, "UserPromptSubmit", prompt="Go on", prompt_id="later")
            assert "\\u201cMake b\\u201d" in told
            assert "Make a" not in told
            says(second, "Stop")
        with foothold(task) as third:
            assert says(third, "UserPromptSubmit", prompt="Go on", prompt_id="last") == ""

    @pytest.mark.parametrize("source", ["startup", "resume"])
    def test_only_of_a_conversation_that_is_older_than_the_run(
        self, task: Sandbox, source: str
    ) -> None:
        with foothold(task) as first:
            turn(first, "Make a", "a.txt")
        task.siding("undo", "--force")
        with foothold(task) as second:
            says(second, "SessionStart", source=source)
            told = says(second, "UserPromptSubmit", prompt="Go on")
            assert ("Make a" in told) == (source == "resume")

    def test_not_of_another_conversation(self, run: Foothold) -> None:
        turn(run, "Make a", "a.txt")
        run.task.siding("undo")
        payload = {"session_id": "other", "hook_event_name": "UserPromptSubmit", "prompt": "Hi"}
        told = str(run.line().result("report", agent="claude", payload=payload)["output"])
        assert "moved your workspace" in told
        assert "Make a" not in told

    def test_of_many_the_newest_are_named(self, run: Foothold) -> None:
        for letter in "abcdefg":
            turn(run, f"Make {letter}", f"{letter}.txt")
        run.task.siding("rewind", ids(run.task)[0])
        told = says(run, "UserPromptSubmit", prompt="Go on")
        assert "2 earlier prompts, \\u201cMake c\\u201d" in told
        assert "Make b" not in told


class TestRewind:
    def test_it_lists_the_prompts_and_goes_back_to_before_one(self, run: Foothold) -> None:
        for letter in "abc":
            turn(run, f"Make {letter}\nand say so", f"{letter}.txt")
        (run.workspace / "mine.txt").write_text("between")
        first, second, third = ids(run.task)
        said = run.task.siding("rewind", second)
        assert made(run) == ["a.txt"]
        assert not (run.workspace / "mine.txt").exists()
        assert b"back to before 'Make b'" in said.stderr
        assert b"the agent (r1) is told with its next prompt" in said.stderr
        listed = run.task.siding("rewind").stdout.decode().splitlines()
        assert [line.split()[0] for line in listed] == ["STEP", first, f"({second})", f"({third})"]
        assert all(line.endswith(f"Make {at}") for line, at in zip(listed[1:], "abc", strict=True))
        run.task.siding("undo")
        assert made(run) == ["a.txt", "b.txt", "c.txt"]
        assert (run.workspace / "mine.txt").exists()

    def test_the_newest_that_stands_is_last(self, run: Foothold) -> None:
        for letter in "ab":
            turn(run, f"Make {letter}", f"{letter}.txt")
        assert run.task.siding("rewind", "last", "-n").stdout == b"delete  b.txt\n"
        assert run.task.json("rewind", "last", "-n", "--json")["delete"] == ["b.txt"]
        assert made(run) == ["a.txt", "b.txt"]
        run.task.siding("rewind", "last")
        assert made(run) == ["a.txt"]
        run.task.siding("rewind", "last")
        assert made(run) == []
        said = run.task.siding("rewind", "last", status=1).stderr
        assert b"no prompt stands in task 'talks'" in said

    def test_one_that_was_left_behind_can_be_gone_to(self, run: Foothold) -> None:
        for letter in "ab":
            turn(run, f"Make {letter}", f"{letter}.txt")
        first, second = ids(run.task)
        run.task.siding("rewind", first)
        run.task.siding("rewind", second)
        assert made(run) == ["a.txt"]

    def test_of_a_run_that_has_ended_nobody_is_told(self, task: Sandbox) -> None:
        with foothold(task) as run:
            turn(run, "Make a", "a.txt")
        (prompt,) = task.json("rewind", "--json")
        assert (prompt["stands"], prompt["lives"], prompt["prompt"]) == (True, False, "Make a")
        assert b"is told with its next prompt" not in task.siding("rewind", "last").stderr

    def test_what_is_no_turn_is_refused_and_nothing_is_changed(self, run: Foothold) -> None:
        turn(run, "Make a", "a.txt")
        run.task.siding("checkpoint", "-m", "mine")
        mine = run.task.steps()[-1]["step_id"]
        for word in (mine, "170", "x"):
            said = run.task.siding("rewind", word, status=1).stderr
            assert f"step '{word}' is no agent's turn".encode() in said
        assert made(run) == ["a.txt"]

    def test_without_a_prompt_it_says_so(self, task: Sandbox) -> None:
        assert b"no agent has reported a prompt" in task.siding("rewind").stderr
        assert task.json("rewind", "--json") == []

    def test_on_a_terminal_one_is_chosen(self, run: Foothold) -> None:
        for letter in "ab":
            turn(run, f"Make {letter}", f"{letter}.txt")
        terminal = Terminal([*SIDING, "rewind"], cwd=run.task.repo, env=run.task.env)
        terminal.wait_for(b"go back to before which")
        terminal.type(b"2\r")
        terminal.wait_for(b"back to before 'Make b'")
        assert terminal.finish() == 0
        assert made(run) == ["a.txt"]


# It is started as Claude Code is, and reports whatever id it is given.
AGENT = """
import json, os, socket, sys
for event in ("UserPromptSubmit", "Stop"):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(os.environ["SIDING_SOCKET"])
        payload = {"session_id": os.environ["REPORTS"], "hook_event_name": event, "prompt": "Do it"}
        line.sendall(json.dumps({"do": "report", "agent": "claude", "payload": payload}).encode())
        line.sendall(b"\\n")
        line.recv(65536)
"""


@pytest.mark.parametrize(
    ("reported", "shown"), [(SESSION, True), ("--dangerously-skip-permissions", False)]
)
def test_the_command_to_go_on_has_an_id_in_it_and_no_option(
    task: Sandbox, reported: str, shown: bool
) -> None:
    program = task.directory / "claude"
    program.write_text(f"#!{sys.executable}\n{AGENT}")
    program.chmod(0o755)
    task.siding("run", "--env", f"REPORTS={reported}", "--", str(program))
    said = task.siding("rewind", "last").stderr.decode()
    assert (f"siding run -- claude --resume {reported}" in said) == shown
    assert ("to go on from there" in said) == shown


class TestStepsOfCalls:
    """`agents.steps: call`: what each tool has changed is a step within the turn."""

    @pytest.fixture
    def run(self, task: Sandbox) -> Iterator[Foothold]:
        (task.project / "config.yaml").write_text("version: 1\nagents: {steps: call}\n")
        with foothold(task) as found:
            yield found

    def turn_of_calls(self, run: Foothold, prompt: str, files: str, *, more: str = "") -> None:
        says(run, "UserPromptSubmit", prompt=prompt, prompt_id=f"id of {prompt}")
        for letter in files:
            self.call(run, f"{letter}.txt")
        for letter in more:  # not by a tool that tells
            (run.workspace / f"{letter}.txt").write_text(letter)
        says(run, "Stop")

    def call(self, run: Foothold, name: str) -> None:
        path = run.workspace / name
        path.write_text(name)
        fields = {"tool_name": "Write", "tool_input": {"file_path": str(path)}}
        says(run, "PostToolUse", cwd=str(run.workspace), tool_use_id=name, **fields)

    def test_each_has_its_own_patch_and_undo_takes_the_turn(self, run: Foothold) -> None:
        self.turn_of_calls(run, "Make a", "a")
        self.turn_of_calls(run, "Make the others", "bc", more="d")
        steps = [step for step in run.task.steps() if step.get("run") == "r1"]
        assert [(step["message"], step["moment"]) for step in steps] == [
            ("Write a.txt", "call"),
            ("Make a", "stopped"),
            ("Write b.txt", "call"),
            ("Write c.txt", "call"),
            ("Make the others", "stopped"),
        ]
        changed = [step["diff_stat"]["file_list"] for step in steps]
        assert changed == [["a.txt"], [], ["b.txt"], ["c.txt"], ["d.txt"]]
        run.task.siding("undo")
        assert made(run) == ["a.txt"]
        run.task.siding("redo")
        assert made(run) == ["a.txt", "b.txt", "c.txt", "d.txt"]
        run.task.siding("undo")
        run.task.siding("undo")
        assert made(run) == []

    def test_undo_within_a_turn_takes_all_of_it_until_then(self, run: Foothold) -> None:
        says(run, "UserPromptSubmit", prompt="Work", prompt_id="p")
        self.call(run, "a.txt")
        self.call(run, "b.txt")
        run.task.siding("undo")
        assert made(run) == []

    def test_rewind_lists_turns_and_goes_to_before_their_first_call(self, run: Foothold) -> None:
        self.turn_of_calls(run, "Make a", "a")
        self.turn_of_calls(run, "Make the others", "bc", more="d")
        _first, second = ids(run.task)
        listed = run.task.siding("rewind", "--list").stdout.decode().splitlines()
        assert "1 file +1 -0" in listed[1]
        assert "3 files +3 -0" in listed[2]  # by its calls, too
        run.task.siding("rewind", second)
        assert made(run) == ["a.txt"]

    def test_a_single_call_can_be_gone_to(self, run: Foothold) -> None:
        self.turn_of_calls(run, "Make the others", "bcd")
        steps = [step for step in run.task.steps() if step.get("moment") == "call"]
        run.task.siding("rollback", "--step", steps[1]["step_id"])
        assert made(run) == ["b.txt", "c.txt"]

    def test_a_person_who_writes_between_two_calls_keeps_what_they_wrote(
        self, run: Foothold
    ) -> None:
        says(run, "UserPromptSubmit", prompt="Work", prompt_id="p")
        self.call(run, "a.txt")
        run.task.siding("checkpoint", "-m", "mine")
        self.call(run, "b.txt")
        run.task.siding("undo")
        assert made(run) == ["a.txt"]

    def test_tools_that_change_nothing_have_no_step(self, run: Foothold) -> None:
        says(run, "UserPromptSubmit", prompt="Look", prompt_id="p")
        says(run, "PostToolUse", tool_name="Bash", tool_input={"command": "ls"})
        says(run, "Stop")
        assert len([step for step in run.task.steps() if step.get("run") == "r1"]) == 1


def test_by_default_calls_are_no_steps(run: Foothold) -> None:
    says(run, "UserPromptSubmit", prompt="Work", prompt_id="p")
    (run.workspace / "a.txt").write_text("a")
    says(run, "PostToolUse", tool_name="Bash", tool_input={"command": "ls"})
    says(run, "Stop")
    (step,) = [step for step in run.task.steps() if step.get("run") == "r1"]
    assert step["diff_stat"]["file_list"] == ["a.txt"]
