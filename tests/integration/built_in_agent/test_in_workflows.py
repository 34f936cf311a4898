"""Siding's own agent in a workflow that is killed, in a race, and in the record."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sandbox import SIDING, Sandbox

from .scripts import whole

SCRIPT = r"""
answers:
  - match: 'note (\w+)'
    steps:
      - tools: [{Bash: {command: "echo {1} >>{1}.txt"}}]
      - text: "{1} is noted"
  - match: 'wait for (\S+)'
    steps:
      - tools:
          - Bash: {command: "echo begun >>begun.txt; while ! test -e {1}; do sleep 0.05; done"}
      - text: "it came"
  - match: 'rest (\d+)'
    steps:
      - tools: [{Bash: {command: "sleep {1}"}}]
      - text: Rested.
  - match: fix
    steps:
      - tools: [{Read: {file_path: calc.py}}]
      - tools: [{Edit: {file_path: calc.py, old_string: "a - b", new_string: "a + b"}}]
      - text: Done.
"""
FLOW = """
meta = {"name": "two", "description": "One after the other"}

async def main(args):
    first = await agent("note one")
    return [first, await agent(f"wait for {args['go']}"), await agent("note three")]
"""


@pytest.fixture
def flows(agent: Sandbox) -> Sandbox:
    (agent.directory / "script.yaml").write_text(SCRIPT)
    agent.env["SIDING_AGENT_MODEL"] = f"scripted:{agent.directory / 'script.yaml'}"
    settings = "workflows: {agent: own, agents: {own: {agent: siding-agent, permissions: all}}}\n"
    Path(agent.env["SIDING_HOME"]).mkdir(exist_ok=True)
    (Path(agent.env["SIDING_HOME"]) / "config.yaml").write_text(settings)
    return agent


def test_a_workflow_that_was_killed_goes_on_and_does_nothing_twice(flows: Sandbox) -> None:
    script, go = flows.directory / "two.py", flows.directory / "go"
    script.write_text(FLOW)
    begun = flows.workspace() / "begun.txt"
    work = subprocess.Popen(
        [*SIDING, "workflow", "run", str(script), f"go={go}"],
        cwd=flows.repo,
        env=flows.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 90
    while not begun.exists():
        assert time.monotonic() < until
        assert work.poll() is None
        time.sleep(0.05)
    os.kill(work.pid, signal.SIGKILL)
    work.wait()
    go.touch()
    run = flows.siding("workflow", "resume", "--all").stdout.decode().strip()
    flows.siding("workflow", "watch", run, timeout=100)
    shown = flows.siding("workflow", "show", "--result").stdout
    assert [word in shown for word in (b"one is noted", b"it came", b"three is noted")] == [
        True
    ] * 3
    here = flows.workspace()
    notes = [(here / f"{name}.txt").read_text() for name in ("one", "begun", "three")]
    assert notes == ["one\n", "begun\nbegun\n", "three\n"]  # what had not ended begins again
    agents = [step["agent"] for step in flows.steps() if step["kind"] == "run"]
    assert agents == ["siding-agent"] * 4


def test_a_race_of_two_is_won_by_one(flows: Sandbox) -> None:
    found = flows.json(
        "race", "fix it", "--agents", "own,own", "--check", "grep -q 'a + b' calc.py", "--json"
    )
    assert found["winner"]
    assert "a + b" in (flows.workspace() / "calc.py").read_text()


def test_a_turn_takes_as_long_as_since_its_prompt(flows: Sandbox) -> None:
    whole(flows, "rest 1", "--allowed-tools", "Bash(sleep *)")
    (turn,) = [step for step in flows.steps() if step.get("origin") == "turn"]
    assert turn["duration_ms"] >= 1000
    shown = flows.siding("show", turn["step_id"]).stdout.decode()
    (ended,) = [line for line in shown.splitlines() if line.startswith("ended ")]
    assert "after 0." not in ended
