"""A person types at an agent's own screen while it works, and what it wakes up for."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agents.at_terminal import AtTerminal
from agents.conftest import AgentAtWork, agent_named
from agents.models import Call
from sandbox import Sandbox


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_what_is_typed_while_it_works_is_of_the_turn_and_taken_back_with_it(
    sandbox: Sandbox, name: str
) -> None:
    with agent_named(sandbox, name) as agent:
        workspace, go = agent.task.workspace(), agent.task.directory / "go"
        model = agent.says(
            [agent.shell(f"echo 1 >alpha.txt; while [ ! -e {go} ]; do sleep 0.1; done")],
            [agent.shell("echo 2 >beta.txt")],
            ["Both are done."],
            ["I see."],
            [in_background("echo 3 >shell.txt")],
            ["It runs."],
            ["It has ended."],
        )
        person = AtTerminal(agent)
        try:
            person.until_shown(agent.ready)
            person.says("do alpha", (workspace / "alpha.txt").exists)
            types(person, "do beta")
            go.touch()
            person.until_shown("Both are done.")
            person.until(lambda: len(agent.turns) == 1)
            (turn,) = agent.turns
            assert [turn["prompt"], *turn["later_prompts"]] == ["do alpha", "do beta"]
            assert turn["diff_stat"]["file_list"] == ["alpha.txt", "beta.txt"]
            assert used(turn) == (303 + 3, 60, 3)
            agent.task.siding("undo")
            person.says("do gamma", lambda: "I see." in person.screen)
            told = json.dumps(model.requests[-1], ensure_ascii=False)
            assert "your work on “do alpha”, “do beta”" in told
            if name == "claude":
                wakes_up(agent, person, workspace)
            assert person.quits() == 0
        finally:
            person.kill()


def wakes_up(agent: AgentAtWork, person: AtTerminal, workspace: Path) -> None:
    person.says("run the shell", lambda: "It runs." in person.screen)
    person.until(lambda: agent.turns[-1]["message"] == "run the shell")
    (workspace / "end").touch()
    person.until_shown("It has ended.")
    person.until(lambda: agent.turns[-1]["message"].startswith("Background command"))
    asked = [turn["prompt"] for turn in agent.turns if turn.get("prompt")]
    assert asked == ["do alpha", "do gamma", "run the shell"]
    assert [used(turn)[2] for turn in agent.turns[-2:]] == [2, 1]
    agent.task.siding("undo")  # what the shell has written, without --force
    assert not (workspace / "shell.txt").exists()


def types(person: AtTerminal, prompt: str) -> None:
    """Send a prompt while a turn runs. Nothing on the screen says that it has arrived."""
    person.type(prompt.encode())
    person.until_shown(prompt)
    watches(person, 1)  # what comes at once looks like pasted
    person.type(b"\r")
    watches(person, 2)


def watches(person: AtTerminal, seconds: float) -> None:
    end = time.monotonic() + seconds
    person.until(lambda: time.monotonic() > end)


def in_background(command: str) -> Call:
    waits = "while [ ! -e end ]; do sleep 0.1; done"
    fields = {"command": f"{waits}; {command}", "description": "a shell"}
    return Call("Bash", {**fields, "run_in_background": True})


def used(turn: dict[str, Any]) -> tuple[int, int, int]:
    (usage,) = turn["usage"].values()
    return usage["input"], usage["output"], usage["calls"]
