"""Prompts that are typed while an agent works, and what wakes it, without an agent: its hooks and
the lines of its transcript are typed here, as Claude Code 2.1.329 and 2.1.197 write them."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

from .inside import Foothold, foothold

SESSION = "0f343741-ae22-4493-b1bd-08f9aa0f342b"
NOTE = "<task-notification>\n<summary>Background command ended</summary>\n</task-notification>"


class Talk:
    """A conversation: what Claude Code reports of it, and what it writes."""

    def __init__(self, run: Foothold, agent: str = "claude") -> None:
        self.run = run
        self.agent = agent
        home = Path(run.task.env["HOME"])
        self.transcript = home / f".{agent}" / "projects" / "a" / f"{SESSION}.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.transcript.touch()

    def says(self, event: str, turn: str, **fields: Any) -> str:
        payload = {
            "session_id": SESSION,
            "transcript_path": str(self.transcript),
            "hook_event_name": event,
            ("turn_id" if self.agent == "codex" else "prompt_id"): turn,
            **fields,
        }
        told = self.run.line().result("report", agent=self.agent, payload=payload)
        return str(told["output"])

    def asks(self, prompt: str, turn: str) -> str:
        return self.says("UserPromptSubmit", turn, prompt=prompt)

    def writes(self, **record: Any) -> None:
        with self.transcript.open("a") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")

    def queues(self, operation: str, content: str = "") -> None:
        self.writes(type="queue-operation", operation=operation, content=content)

    def takes(self, prompt: str) -> None:
        """The model gets what was typed."""
        origin = {"kind": "human"}
        queued = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        self.writes(type="attachment", attachment={**queued, "origin": origin})

    def answers(self, text: str, number: int, at: datetime | None = None) -> None:
        """The model answers, with 100 tokens in and 10 out."""
        usage = {"input_tokens": 100, "output_tokens": 10}
        stamp = (at or datetime.now(UTC)).isoformat(timespec="milliseconds")
        message = {
            "id": f"msg_{number}",
            "role": "assistant",
            "model": "a-model",
            "usage": usage,
            "content": [{"type": "text", "text": text}],
        }
        stamp = stamp.replace("+00:00", "Z")
        self.writes(
            type="assistant", uuid=f"u{number}", timestamp=stamp, requestId="r", message=message
        )

    def changes(self, name: str) -> None:
        (self.run.workspace / name).write_text(name)

    @property
    def turns(self) -> list[dict[str, Any]]:
        return [step for step in self.run.task.steps() if step.get("origin") == "turn"]

    @property
    def asked(self) -> list[list[str]]:
        """What the agent was asked in each turn."""
        return [[turn["prompt"], *turn.get("later_prompts", ())] for turn in self.turns]


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "talks")
    return sandbox


@pytest.fixture
def run(task: Sandbox) -> Iterator[Foothold]:
    with foothold(task) as found:
        yield found


def tokens(turn: Mapping[str, Any]) -> int:
    usage = turn.get("usage") or {}
    return sum(int(each["input"]) + int(each["output"]) for each in usage.values())


def test_what_is_typed_while_a_turn_runs_is_asked_in_it_and_taken_back_with_it(
    run: Foothold,
) -> None:
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    talk.changes("a.txt")
    talk.asks("do beta", "p1")  # it has the id of the turn that runs
    talk.queues("enqueue", "do beta")
    talk.queues("enqueue", NOTE)
    talk.queues("remove", "do beta")
    talk.takes("do beta")
    talk.changes("b.txt")
    talk.says("Stop", "p1")
    (turn,) = talk.turns
    assert talk.asked == [["do alpha", "do beta"]]
    assert turn["message"] == "do alpha · do beta"
    siding = run.task.siding
    assert "do alpha · do beta" in siding("log").stdout.decode()
    assert "do alpha · do beta" in siding("rewind", "--list").stdout.decode()
    assert "do beta" in siding("show", turn["step_id"]).stdout.decode()
    (listed,) = run.task.json("rewind", "--list", "--json")
    assert listed["later_prompts"] == ["do beta"]
    undone = siding("undo")
    assert b"undid step 0002 (do alpha \xc2\xb7 do beta)" in undone.stdout + undone.stderr
    told = talk.asks("do gamma", "p2")
    assert "your work on \\u201cdo alpha\\u201d, \\u201cdo beta\\u201d" in told
    talk.says("Stop", "p2")

    # 2.1.197 reports nothing of it, and does not say what was removed.
    talk.asks("do delta", "p3")
    talk.queues("enqueue", "do epsilon")
    talk.queues("remove")
    talk.takes("do epsilon")
    talk.says("Stop", "p3")
    assert talk.asked[-1] == ["do delta", "do epsilon"]


def test_what_still_waits_when_a_turn_ends_is_asked_in_the_next_one(run: Foothold) -> None:
    """Claude Code begins with it by itself, and reports no prompt."""
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    talk.changes("a.txt")
    for prompt in ("do beta", "do gamma"):
        talk.asks(prompt, "p1")
        talk.queues("enqueue", prompt)
    talk.queues("popAll", "do beta")  # one is taken into the editor again, and changed
    talk.queues("popAll", "do gamma")
    for prompt in ("do beta better", "do gamma"):
        talk.asks(prompt, "p1")
        talk.queues("enqueue", prompt)
    talk.says("Stop", "p1")
    talk.queues("dequeue")
    talk.queues("dequeue")
    talk.changes("b.txt")
    talk.says("Stop", "p2")
    assert talk.asked == [["do alpha"], ["do beta better", "do gamma"]]
    assert [turn["turn"] for turn in talk.turns] == ["p1", "p2"]
    assert [turn["diff_stat"]["file_list"] for turn in talk.turns] == [["a.txt"], ["b.txt"]]
    talk.asks("do delta", "p3")
    talk.says("Stop", "p3")
    talk.asks("do epsilon", "p3")  # typed while the hooks of its end still run
    talk.queues("enqueue", "do epsilon")
    talk.queues("dequeue")
    talk.changes("c.txt")
    talk.says("Stop", "p4")
    assert talk.asked[-2:] == [["do delta"], ["do epsilon"]]
    assert talk.turns[-1]["diff_stat"]["file_list"] == ["c.txt"]
    run.task.siding("stop", "--all")
    assert run.task.steps()[-1]["reported"]["prompts"] == 5


def test_an_interrupted_agent_goes_on_with_what_waits(run: Foothold) -> None:
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    talk.changes("a.txt")
    talk.asks("do beta", "p1")
    talk.queues("enqueue", "do beta")
    talk.queues("dequeue")  # Esc
    tool = {"tool_name": "Bash", "tool_input": {"command": "true"}}
    talk.says("PreToolUse", "p2", **tool)  # where its tools are judged it is known in time
    talk.changes("b.txt")
    talk.says("Stop", "p2")
    assert talk.asked == [["do alpha"], ["do beta"]]
    assert [turn["status"] for turn in talk.turns] == ["interrupted", "completed"]
    assert [turn["diff_stat"]["file_list"] for turn in talk.turns] == [["a.txt"], ["b.txt"]]

    talk.asks("do gamma", "p3")  # and else both are one turn
    talk.asks("do delta", "p3")
    talk.queues("enqueue", "do delta")
    talk.queues("dequeue")
    talk.changes("c.txt")
    talk.says("Stop", "p4")
    assert talk.asked[2:] == [["do gamma", "do delta"]]
    assert talk.turns[-1]["moment"] == "stopped"


def test_what_codex_is_told_while_its_turn_runs_is_of_that_turn(run: Foothold) -> None:
    talk = Talk(run, "codex")
    talk.asks("do alpha", "t1")
    talk.changes("a.txt")
    talk.asks("do beta", "t1")
    talk.changes("b.txt")
    talk.says("Stop", "t1")
    talk.asks("do gamma", "t2")
    talk.says("Interrupt", "t2")
    assert talk.asked == [["do alpha", "do beta"], ["do gamma"]]
    undone = run.task.siding("undo")
    assert b"undid step 0002 (do alpha \xc2\xb7 do beta)" in undone.stdout + undone.stderr
    assert not (run.workspace / "a.txt").exists()
    done = run.task.siding("redo")
    assert b"did step 0002 (do alpha \xc2\xb7 do beta) again" in done.stdout + done.stderr
    assert (run.workspace / "b.txt").exists()


def test_what_a_background_shell_does_is_of_the_turn_that_began_it(run: Foothold) -> None:
    talk = Talk(run)
    talk.asks("run the shell", "p1")
    talk.changes("a.txt")
    shell = {"id": "b", "type": "shell", "status": "running"}
    talk.says("Stop", "p1", background_tasks=[shell])
    talk.changes("shell.txt")
    talk.asks(NOTE, "p2")
    talk.answers("It has ended.", 1)
    talk.says("Stop", "p2", last_assistant_message="It has ended.")
    first, more = talk.turns
    assert (first["prompt"], more.get("prompt")) == ("run the shell", None)
    assert (more["message"], more["turn"]) == ("Background command ended", "p1")
    assert more["diff_stat"]["file_list"] == ["shell.txt"]
    assert tokens(more) == 110
    assert [step["origin"] for step in run.task.steps()][1:] == ["turn", "turn"]
    (listed,) = run.task.json("rewind", "--list", "--json")
    assert listed["prompt"] == "run the shell"
    assert "2 files" in run.task.siding("rewind", "--list").stdout.decode()

    undone = run.task.siding("undo")  # needs no --force
    assert b"undid step 0002 (run the shell)" in undone.stdout + undone.stderr
    assert not [*run.workspace.glob("[as]*.txt")]
    run.task.siding("redo")
    assert len([*run.workspace.glob("[as]*.txt")]) == 2

    talk.asks(NOTE, "p3")  # and nothing comes of the next one
    talk.says("Stop", "p3")
    talk.asks("do beta", "p4")
    talk.says("Stop", "p4")
    assert [turn.get("prompt") for turn in talk.turns] == ["run the shell", None, "do beta"]


def test_tokens_times_and_endings_are_those_of_the_turn(run: Foothold) -> None:
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    talk.answers("I begin.", 1)
    late = threading.Timer(0.5, talk.answers, ("It is done.", 2))  # written after the hook began
    late.start()
    talk.says("Stop", "p1", last_assistant_message="It is done.")
    late.join()
    talk.answers("What a shell command of the person printed.", 3)  # between the turns
    talk.asks("do beta", "p2")
    begun = datetime.now(UTC)
    talk.answers("I am interrupted.", 4, begun + timedelta(seconds=6))
    talk.asks("do gamma", "p3")
    talk.answers("It is done.", 5)
    talk.says("Stop", "p3", last_assistant_message="It is done.")
    talk.asks("do delta", "p4")
    run.task.siding("stop", "--all")
    alpha, beta, gamma, delta = talk.turns
    assert [tokens(turn) for turn in (alpha, beta, gamma, delta)] == [220, 110, 110, 0]
    assert 5500 < beta["duration_ms"] <= 6100
    ended = [(turn["moment"], turn["status"]) for turn in talk.turns]
    assert ended == [
        ("stopped", "completed"),
        ("prompt", "interrupted"),
        ("stopped", "completed"),
        ("ended", "interrupted"),
    ]
    assert "interrupted" in run.task.siding("show", delta["step_id"]).stdout.decode()
    assert run.task.json("inbox", "--json") == []


def test_a_transcript_that_is_never_written_holds_no_turn_up(run: Foothold) -> None:
    talk = Talk(run)
    talk.asks("do alpha", "p1")
    begun = time.monotonic()
    talk.transcript.unlink()
    talk.says("Stop", "p1", last_assistant_message="It is done.")
    assert time.monotonic() - begun < 1.9
    assert talk.asked == [["do alpha"]]
