"""Comments reach a real agent that has no terminal: as its next prompt when its turn ends, once."""

import json
import shlex
from typing import Any

import pytest

from agents.conftest import AgentAtWork, agent_named
from sandbox import SIDING, Sandbox


def comments(sandbox: Sandbox) -> dict[str, dict[str, Any]]:
    return {each["id"]: each for each in sandbox.json("comments", "list", "--all", "--json")}


def given(agent: AgentAtWork) -> list[int]:
    """Return of each request to the model how often the comment is in it."""
    assert agent.model is not None
    return [
        json.dumps(each).count("Requested change: say it shorter") for each in agent.model.requests
    ]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_what_is_sent_in_a_turn_is_the_next_prompt(sandbox: Sandbox, name: str) -> None:
    with agent_named(sandbox, name) as agent:
        siding = shlex.join(SIDING)
        words = f"{siding} comments add hello.txt:1 'say it shorter' && {siding} comments send"
        agent.says(
            [agent.shell(words)], ["Done."], [agent.shell("echo short >hello.txt")], ["Short."]
        )
        agent.prompt("Write it")
        assert agent.model is not None
        assert [each > 0 for each in given(agent)] == [False, False, True, True]
        first, second = agent.turns
        assert second["prompt"].startswith("Review of your change: 1 comment.")
        assert (first["diff_stat"]["files"], second["diff_stat"]["files"]) == (0, 1)
        assert agent.run["reported"]["prompts"] == 2
        found = comments(sandbox)["c1"]
        assert (found["sent_to"], found["waits_for"], found["handed"]) == ("r1", "", "")
        agent.says(["Nothing more."])
        agent.goes_on(str(second["session"]), "Go on")
        assert len(agent.turns) == 3
