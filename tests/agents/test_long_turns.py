"""A model that says nothing for two minutes: there are as many steps as prompts all the same."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from agents.conftest import FORGET, REMEMBER, AgentAtWork, agent_named, program
from agents.models import Late
from sandbox import Sandbox

QUIET_S = 125
PATIENCE_S = 400


def takes_long(agent: AgentAtWork) -> None:
    """Have one prompt answered after two minutes, and then another one."""
    agent.says(Late(QUIET_S, [agent.shell("echo 1 >1.txt")]), ["Done."])
    agent.task.siding("run", "--", *agent.words("Take your time"), timeout=PATIENCE_S)
    session = str(agent.turns[-1]["session"])
    agent.says([agent.shell("echo 2 >2.txt")], ["Done."])
    agent.goes_on(session, "Be quick")


@pytest.mark.timeout(900)
def test_a_turn_of_two_minutes_is_one_step(tmp_path: Path) -> None:
    """All agents at once, because all of them only wait."""
    names = [kind.name for kind in (*FORGET, *REMEMBER) if program(kind.name) is not None]
    if not names:
        pytest.skip("no agent is installed")
    with ExitStack() as stack:
        agents = []
        for name in names:
            sandbox = Sandbox(tmp_path / name)
            agents.append(stack.enter_context(agent_named(sandbox, name)))
        with ThreadPoolExecutor(len(agents)) as pool:
            list(pool.map(takes_long, agents))
        for agent in agents:
            told = [
                (turn["message"], turn["moment"], turn["diff_stat"]["file_list"])
                for turn in agent.turns
            ]
            assert told == [
                ("Take your time", "stopped", ["1.txt"]),
                ("Be quick", "stopped", ["2.txt"]),
            ], agent.name
