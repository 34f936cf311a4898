"""A scripted session of ten turns, each a run that goes on with it, and the third taken back.

Claude Code's is in `test_claude.py` and `test_hard_sessions.py`, with several prompts in one run.
"""

import json

import pytest

from agents.conftest import FORGET, AgentAtWork, agent_named
from agents.models import Answer, Failure, Full, ModelServer
from sandbox import Sandbox

# What each turn runs, and the files of its patch.
TURNS: list[tuple[str, list[str]]] = [
    ("echo 1 >1.txt", ["1.txt"]),
    ("echo 2 >2.txt", ["2.txt"]),
    ("git add -A && git commit -qm 'from inside'", []),
    ("", []),  # it is only talk
    ("echo 5 >5.txt; false", ["5.txt"]),
    ("echo two >2.txt", ["2.txt"]),
    ("rm 1.txt; echo 7 >7.txt", ["1.txt", "7.txt"]),
    ("echo 8 >8.txt", ["8.txt"]),
    ("mkdir -p deep && echo 9 >deep/9.txt", ["deep/9.txt"]),
    ("git add -A && git commit -qm 'and more'", []),
]
HELPED = 6  # the turn in which a helper does the work
COMPACTED = 7  # the turn in which what was said before is summed up
OVERLOADED = 8  # the turn in which the server fails once
COUNT = "count-the-files-for-me"
LEFT = 3  # the turn that is taken back, with all that follow


def prompt_of(number: int) -> str:
    return f"Prompt {number:02}: please"


def speaks(agent: AgentAtWork, number: int) -> ModelServer:
    """Have the model answer as is right for a turn."""
    command = TURNS[number - 1][0]
    calls: list[Answer] = [[agent.shell(command)]] if command else []
    if number == HELPED:
        steps: list[Answer] = [[call] for call in agent.helper(COUNT)]
        return agent.says(*steps, [f"Answer {number:02}."], elsewhere=agent.helped(COUNT, *calls))
    if number == COMPACTED:
        calls = [Full([agent.shell(command)])]
    fails: list[Answer] = [Failure(503)] if number == OVERLOADED else []
    return agent.says(*fails, *calls, [f"Answer {number:02}."])


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["codex", "gemini", "opencode"])
def test_ten_turns_are_ten_steps_and_the_third_can_be_taken_back(
    sandbox: Sandbox, name: str
) -> None:
    with agent_named(sandbox, name) as agent:
        session = ""
        for number in range(1, len(TURNS) + 1):
            server = speaks(agent, number)
            if session:
                agent.goes_on(session, prompt_of(number))
            else:
                agent.prompt(prompt_of(number))
                session = str(agent.turns[-1]["session"])
            if number == COMPACTED:
                assert "Answer 02." in json.dumps(server.requests[0])
                assert "Answer 02." not in json.dumps(server.requests[-1])
        turns = agent.turns
        numbers = range(1, len(TURNS) + 1)
        assert [turn["message"] for turn in turns] == [prompt_of(number) for number in numbers]
        assert [turn["moment"] for turn in turns] == ["stopped"] * len(TURNS)
        assert {turn["session"] for turn in turns} == {session}
        changed = [sorted(turn["diff_stat"]["file_list"]) for turn in turns]
        assert changed == [files for _command, files in TURNS]
        if agent.has_transcript:
            are_linked(agent, session)
        agent.task.siding("verify")

        taken_back(agent, session)


def are_linked(agent: AgentAtWork, session: str) -> None:
    """Each turn has what was used in it, and the conversation names its step."""
    calls = [sum(used["calls"] for used in turn["usage"].values()) for turn in agent.turns]
    wanted = [1 + bool(command) for command, _files in TURNS]
    wanted[HELPED - 1] += 1 + len(agent.helper(COUNT))  # the helper's own are two
    wanted[COMPACTED - 1] += agent.writes_compactions
    assert calls == wanted
    shown = agent.task.siding("session", "show", session).stdout.decode()
    places = [shown.find(f"step {turn['step_id']} of task") for turn in agent.turns]
    assert -1 not in places, shown
    assert places == sorted(places)


def taken_back(agent: AgentAtWork, session: str) -> None:
    """Files, commits and, where the agent can, the conversation are as before the turn."""
    workspace = agent.task.workspace()
    agent.task.siding("rewind", str(agent.turns[LEFT - 1]["step_id"]))
    assert sorted(path.name for path in workspace.glob("[0-9].txt")) == ["1.txt", "2.txt"]
    assert agent.task.git("log", "--format=%s", cwd=workspace) == "first"
    model = agent.says([agent.shell("echo other >other.txt")], ["Done."])
    agent.goes_on(session, "Another way")
    asked = json.dumps(model.requests[0], ensure_ascii=False)
    heard = [prompt_of(number) in asked for number in range(1, len(TURNS) + 1)]
    if type(agent) in FORGET:
        assert heard == [True] * (LEFT - 1) + [False] * (len(TURNS) - LEFT + 1)
    else:
        assert f"Taken back: your work on 3 earlier prompts, “{prompt_of(LEFT + 3)}”" in asked
    turn = agent.turns[-1]
    assert (turn["message"], turn["diff_stat"]["file_list"]) == ("Another way", ["other.txt"])
