"""A person at an agent's own screen presses Esc in the middle of a turn, and prompts again."""

import pytest

from agents.at_terminal import AtTerminal
from agents.conftest import AgentAtWork, agent_named
from agents.models import Held
from sandbox import Sandbox

MIDDLES = ("answer", "command")


def told(agent: AgentAtWork) -> list[tuple[str, str, list[str]]]:
    return [
        (turn["message"], turn["moment"], sorted(turn["diff_stat"]["file_list"]))
        for turn in agent.turns
    ]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "opencode"])
def test_a_turn_that_is_interrupted_is_a_step_with_its_own_patch(
    sandbox: Sandbox, name: str
) -> None:
    """In the middle of an answer, and in the middle of a command."""
    with agent_named(sandbox, name) as agent:
        agent.says(
            [agent.shell("echo 1 >1.txt")],
            Held("It streams."),
            [agent.shell("echo 2 >2.txt; sleep 600")],
            [agent.shell("echo 3 >3.txt")],
            ["It is done."],
        )
        person = AtTerminal(agent)
        try:
            a_day(agent, person)
        finally:
            person.kill()
        assert agent.run["reported"]["prompts"] == 3
        ended = ["stopped" if it in agent.tells_interrupts else "prompt" for it in MIDDLES]
        is_told = "answer" in agent.tells_interrupts
        assert told(agent) == [
            ("first-prompt", ended[0], ["1.txt"] if is_told else ["1.txt", "mine.txt"]),
            ("second-prompt", ended[1], ["2.txt"]),
            ("third-prompt", "stopped", ["3.txt"]),
        ]
        between = [step for step in agent.task.steps() if step.get("origin") == "running"]
        files = [step["diff_stat"]["file_list"] for step in between]
        assert files == ([["mine.txt"]] if is_told else [])


def a_day(agent: AgentAtWork, person: AtTerminal) -> None:
    workspace = agent.task.workspace()
    person.until_shown(agent.ready)
    person.says("first-prompt", lambda: "It streams." in person.screen)
    interrupted(agent, person, "answer")
    (workspace / "mine.txt").write_text("a person's\n")
    person.says("second-prompt", (workspace / "2.txt").exists)
    interrupted(agent, person, "command")
    person.says("third-prompt", lambda: "It is done." in person.screen)
    person.until(lambda: len(agent.turns) == 3)
    assert person.quits() == 0


def interrupted(agent: AgentAtWork, person: AtTerminal, middle: str) -> None:
    """Interrupt it, and wait for the step if it tells that it was interrupted."""
    person.interrupts()
    if middle in agent.tells_interrupts:
        person.until(lambda: len(agent.turns) == MIDDLES.index(middle) + 1)
