"""What an agent used is in the steps of its turns and of its run."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from integration.broker.inside import Foothold, foothold
from sandbox import Sandbox

from . import homes

OLD = "2026-01-01T12:00:01.000Z"


@pytest.fixture
def run(sandbox: Sandbox) -> Iterator[Foothold]:
    sandbox.siding("task", "start", "used")
    with foothold(sandbox) as found:
        yield found


def says(run: Foothold, event: str, transcript: Path, **fields: Any) -> None:
    """Report as Claude Code does."""
    payload = {"session_id": homes.CLAUDE, "transcript_path": str(transcript)}
    said = {**payload, "hook_event_name": event, **fields}
    run.line().result("report", agent="claude", payload=said)


def answers(transcript: Path, message: str, tokens: int, cwd: Path = Path("/w")) -> None:
    """Have the agent write an answer, now."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    with transcript.open("a", encoding="utf-8") as file:
        line = homes.answered(now, message, tokens, cwd=str(cwd))
        file.write(json.dumps(line, separators=(",", ":")) + "\n")


def used(step: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = step["usage"]["claude-opus-4-8"]
    return found


def test_each_turn_has_what_was_used_in_it_and_the_run_has_all(run: Foothold) -> None:
    task = run.task
    # The conversation goes on with that of a run that ended just before this one began.
    began = datetime.fromisoformat(task.json("runs", "--format", "json")[0]["started_at"])
    just_before = (began - timedelta(milliseconds=2)).isoformat()
    before = homes.answered(just_before, "L", 9_000)
    transcript = homes.claude(Path(task.env["HOME"]), homes.CLAUDE, [before])
    for message, tokens in (("M", 700), ("N", 30)):
        says(run, "UserPromptSubmit", transcript, prompt=f"prompt {message}")
        answers(transcript, message, tokens)
        says(run, "Stop", transcript)
    (row,) = task.json("runs", "--format", "json")
    assert row["used"] == "2 calls: 730 tokens in, 20 out (claude-opus-4-8)"
    answers(transcript, "O", 2)  # after the last turn
    task.siding("stop", run.run)
    first, second = (each for each in task.steps() if each.get("origin") == "turn")
    assert used(first) == {"input": 700, "output": 10, "calls": 1}
    assert used(second) == {"input": 30, "output": 10, "calls": 1}
    (whole,) = (each for each in task.steps() if each["kind"] == "run")
    assert used(whole) == {"input": 732, "output": 30, "calls": 3}
    shown = task.siding("show", str(first["step_id"])).stdout.decode()
    assert "1 call: 700 tokens in, 10 out (claude-opus-4-8)" in shown
    listed = task.siding("log").stdout.decode().splitlines()
    assert [line.split("  ")[0] for line in listed[:1]] == ["STEP"]
    assert "TOKENS" in listed[0]
    assert [" 762 " in line for line in listed[1:]].count(True) == 1
    assert "3 calls: 732 tokens in" in task.siding("task", "show").stdout.decode()


def test_a_file_outside_of_the_homes_of_agents_is_not_read(run: Foothold) -> None:
    outside = run.workspace / "made-up.jsonl"
    outside.write_text("")
    says(run, "UserPromptSubmit", outside, prompt="count this")
    answers(outside, "M", 700)
    says(run, "Stop", outside)
    (turn,) = (each for each in run.task.steps() if each.get("origin") == "turn")
    assert turn.get("usage") is None, turn


def test_a_transcript_that_is_gone_fails_no_step(run: Foothold) -> None:
    transcript = homes.claude(Path(run.task.env["HOME"]), homes.CLAUDE, [])
    says(run, "UserPromptSubmit", transcript, prompt="do it")
    transcript.unlink()
    says(run, "Stop", transcript)
    (turn,) = (each for each in run.task.steps() if each.get("origin") == "turn")
    assert (turn["message"], turn.get("usage")) == ("do it", None)


def test_a_call_belongs_to_the_run_whose_agent_reported_its_conversation(run: Foothold) -> None:
    task = run.task
    before = homes.answered(OLD, "L", 9_000, cwd=str(run.workspace))
    transcript = homes.claude(Path(task.env["HOME"]), homes.CLAUDE, [before])
    says(run, "UserPromptSubmit", transcript, prompt="do it")
    answers(transcript, "M", 700, run.workspace)
    task.siding("stop", run.run)
    (step,) = (each for each in task.steps() if each["kind"] == "run")
    rows = task.json("usage", "--by", "run", "--format", "json")
    assert {row["run"]: row["input"] for row in rows} == {
        "-": 9_000,
        f"used {step['step_id']}": 700,
    }
