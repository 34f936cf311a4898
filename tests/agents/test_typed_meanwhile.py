"""A person types at an agent's own screen while it works."""

import json
import time
from typing import Any

import pytest

from agents.at_terminal import AtTerminal
from agents.conftest import agent_named
from sandbox import Sandbox


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
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
            if agent.has_transcript:
                assert used(turn) == (303 + 3, 60, 3)
            agent.task.siding("undo")
            person.says("do gamma", lambda: "I see." in person.screen)
            told = json.dumps(model.requests[-1], ensure_ascii=False)
            assert "your work on “do alpha”, “do beta”" in told
            assert person.quits() == 0
        finally:
            person.kill()


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


def used(turn: dict[str, Any]) -> tuple[int, int, int]:
    (usage,) = turn["usage"].values()
    return usage["input"], usage["output"], usage["calls"]


@pytest.mark.timeout(300)
def test_what_is_typed_while_gemini_works_begins_its_next_turn(sandbox: Sandbox) -> None:
    with agent_named(sandbox, "gemini") as agent:
        workspace, go = agent.task.workspace(), agent.task.directory / "go"
        agent.says(
            [agent.shell(f"echo 1 >alpha.txt; while [ ! -e {go} ]; do sleep 0.1; done")],
            ["Alpha is done."],
            [agent.shell("echo 2 >beta.txt")],
            ["Beta is done."],
        )
        person = AtTerminal(agent)
        try:
            person.until_shown(agent.ready)
            person.says("do alpha", (workspace / "alpha.txt").exists)
            types(person, "do beta")
            go.touch()
            person.until_shown("Beta is done.")
            person.until(lambda: len(agent.turns) == 2)
            assert [
                ([turn["prompt"], *turn.get("later_prompts", ())], turn["diff_stat"]["file_list"])
                for turn in agent.turns
            ] == [(["do alpha"], ["alpha.txt"]), (["do beta"], ["beta.txt"])]
            agent.task.siding("undo")
            assert (workspace / "alpha.txt").exists()
            assert not (workspace / "beta.txt").exists()
            assert person.quits() == 0
        finally:
            person.kill()
