"""Limits of what agents may use: they warn, hold the agent until a person has answered, or end
the run."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from integration.broker.inside import Foothold, foothold
from sandbox import Sandbox

from . import homes
from .test_runs import answers

COMMAND = {"tool_name": "Bash", "tool_input": {"command": "touch canary"}}


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "used")
    return sandbox


@pytest.fixture
def run(task: Sandbox) -> Iterator[Foothold]:
    with foothold(task) as found:
        yield found


@pytest.fixture
def transcript(task: Sandbox) -> Path:
    return homes.claude(Path(task.env["HOME"]), homes.CLAUDE, [])


def limit(task: Sandbox, at_limit: str, **more: object) -> None:
    usage = {"task": "1k", "at_limit": at_limit}
    (task.project / "config.yaml").write_text(json.dumps({"version": 1, "usage": usage, **more}))


def says(run: Foothold, event: str, transcript: Path, **fields: Any) -> str:
    """Report as Claude Code does; return what its program prints."""
    payload = {"session_id": homes.CLAUDE, "transcript_path": str(transcript)}
    said = {**payload, "hook_event_name": event, **fields}
    return str(run.line().result("report", agent="claude", payload=said)["output"])


def uses(run: Foothold, transcript: Path, message: str, tokens: int = 1_100) -> None:
    answers(transcript, message, tokens, run.workspace)


def waiting(task: Sandbox) -> list[str]:
    return [each["session_id"] for each in task.json("inbox", "--json") if each["session_id"]]


def answer(task: Sandbox, chosen: str) -> None:
    deadline = time.monotonic() + 60
    while not (open_now := waiting(task)):
        assert time.monotonic() < deadline, "nobody was asked"
        time.sleep(0.02)
    task.siding("decide", "answer", open_now[0], "--choose", f"1={chosen}")


def notes(task: Sandbox) -> list[str]:
    return list(next(step for step in task.steps() if step["kind"] == "run")["notes"])


def test_a_warning_calls_the_person_once_and_is_in_the_step(
    run: Foothold, transcript: Path
) -> None:
    called = run.task.directory / "called"
    limit(run.task, "warn", hooks={"notify": [f'echo "$SIDING_WAITS_TITLE" >>{called}']})
    for message in "MN":
        says(run, "UserPromptSubmit", transcript, prompt="more")
        uses(run, transcript, message)
        says(run, "Stop", transcript)
    said = "task used has used 1,110 tokens; the limit is 1,000 tokens (usage.task)"
    assert called.read_text() == f"{said}\n"
    run.task.siding("stop", "--all")
    assert said in notes(run.task)


def test_below_the_limit_nobody_is_asked(run: Foothold, transcript: Path) -> None:
    limit(run.task, "pause")
    uses(run, transcript, "M", 900)
    says(run, "UserPromptSubmit", transcript, prompt="more")
    assert says(run, "PreToolUse", transcript, **COMMAND) == ""
    assert waiting(run.task) == []


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
def test_an_agent_waits_until_a_person_lets_it_go_on(
    run: Foothold, transcript: Path, event: str
) -> None:
    limit(run.task, "pause")
    uses(run, transcript, "M")
    fields = {"prompt": "more"} if event == "UserPromptSubmit" else COMMAND
    with ThreadPoolExecutor() as pool:
        held = pool.submit(says, run, event, transcript, **fields)
        answer(run.task, "more")
        assert held.result(60) == ""
    assert says(run, event, transcript, **fields) == ""  # as much again: nobody is asked
    uses(run, transcript, "N")
    with ThreadPoolExecutor() as pool:
        held = pool.submit(says, run, "UserPromptSubmit", transcript, prompt="and more")
        answer(run.task, "all")
        assert held.result(60) == ""
    uses(run, transcript, "O", 90_000)
    assert says(run, "UserPromptSubmit", transcript, prompt="much more") == ""
    run.task.siding("stop", "--all")
    assert [each.partition("; ")[2] for each in notes(run.task)] == [
        "the limit is 1,000 tokens (usage.task); a person let it go on"
    ] * 2


def test_a_person_ends_the_run_and_the_command_does_not_run(
    run: Foothold, transcript: Path
) -> None:
    limit(run.task, "pause")
    uses(run, transcript, "M")
    with ThreadPoolExecutor() as pool:
        held = pool.submit(says, run, "PreToolUse", transcript, **COMMAND)
        answer(run.task, "end")
        told = json.loads(held.result(60))["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert "Siding ends this run: task used has used 1,110" in told["permissionDecisionReason"]
    ended(run.task)


def test_at_a_limit_that_stops_the_run_is_ended_when_the_turn_is(
    run: Foothold, transcript: Path
) -> None:
    limit(run.task, "stop")
    says(run, "UserPromptSubmit", transcript, prompt="work")
    uses(run, transcript, "M")
    (run.workspace / "done.txt").write_text("done\n")
    says(run, "Stop", transcript)
    ended(run.task)
    (turn,) = (each for each in run.task.steps() if each.get("origin") == "turn")
    assert "done.txt" in turn["diff_stat"]["file_list"]


def ended(task: Sandbox) -> None:
    deadline = time.monotonic() + 60
    while task.json("runs", "--format", "json"):
        assert time.monotonic() < deadline, "the run goes on"
        time.sleep(0.05)
    (said,) = notes(task)
    assert said.endswith("(usage.task), so the run was ended")


class TestBeforeARun:
    AGENT = "#!/bin/sh\necho started\n"

    @pytest.fixture
    def spent(self, task: Sandbox) -> Sandbox:
        home = Path(task.env["HOME"])
        at = "2026-01-01T12:00:01.000Z"
        old = homes.answered(at, "L", 1_500, cwd=str(task.workspace()))
        homes.claude(home, homes.CLAUDE, [old])
        agent = task.directory / "bin" / "claude"
        agent.parent.mkdir()
        agent.write_text(self.AGENT)
        agent.chmod(0o755)
        task.env["PATH"] = f"{agent.parent}:{task.env['PATH']}"
        return task

    def test_no_agent_is_started_at_a_limit(self, spent: Sandbox) -> None:
        limit(spent, "pause")
        said = spent.siding("run", "--", "claude", "-p", "work", status=None)
        assert said.returncode != 0
        assert b"task used has used 1,510 tokens" in said.stderr
        assert b"--over-limit" in said.stderr
        assert b"started" not in said.stdout
        assert spent.siding("run", "--", "echo", "no agent").stdout == b"no agent\n"

    def test_it_is_when_the_person_says_so(self, spent: Sandbox) -> None:
        limit(spent, "stop")
        said = spent.siding("run", "--over-limit", "--", "claude", "-p", "work")
        assert said.stdout == b"started\n"

    def test_a_warning_is_one(self, spent: Sandbox) -> None:
        limit(spent, "warn")
        said = spent.siding("run", "--", "claude", "-p", "work")
        assert said.stdout == b"started\n"
        assert b"warning: task used has used 1,510 tokens; the limit" in said.stderr

    def test_dollars_count_by_the_prices_that_are_known(self, spent: Sandbox) -> None:
        home = Path(spent.env["SIDING_HOME"])
        (home / "prices.yaml").write_text("claude-opus-4-8: {input: 1000, output: 0}\n")
        (home / "config.yaml").write_text("version: 1\nusage: {task: $1, at_limit: stop}\n")
        said = spent.siding("run", "--", "claude", status=None).stderr
        assert b"has used $1.50; the limit is $1.00 (usage.task)" in said
        (spent.project / "config.yaml").write_text('version: 1\nusage: {task: "$1.51"}\n')
        assert spent.siding("run", "--", "claude").stdout == b"started\n"

    @pytest.mark.parametrize(
        ("usage", "why"),
        [
            ("{task: many}", "usage.task in "),
            ("{task: 0}", "usage.task in "),
            ("{task: -5}", "usage.task in "),
            ("{task: true}", "usage.task in "),
            ("{task: [5k, ten]}", "usage.task in "),
            ("{weeks: 5M}", "usage.weeks in "),
            ("{at_limit: explode}", "one of warn, pause, stop"),
            ("5M", "a section"),
        ],
    )
    def test_what_is_no_limit_is_named(self, spent: Sandbox, usage: str, why: str) -> None:
        (spent.project / "config.yaml").write_text(f"version: 1\nusage: {usage}\n")
        said = spent.siding("run", "--", "claude", status=None)
        assert said.returncode == 2
        assert why in said.stderr.decode()
