"""A real agent, or the host that holds it, is killed at any moment: its conversation goes on."""

import os
import random

import pytest

from agents.conftest import agent_named
from faults.chat.real import RealTrials
from sandbox import Sandbox

SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
TIMES = int(os.environ.get("SIDING_FAULTS_TIMES", "0"))
# From the start of a host to the end of its second turn, about.
AGENTS = {"codex": 2.5, "claude": 3.5, "opencode": 6.0}
SURE = ("codex", "opencode")  # the record says of each prompt whether it was taken
pytestmark = pytest.mark.timeout(2400 if TIMES else 300)


@pytest.mark.parametrize("name", AGENTS if TIMES else ["codex"])
def test_a_conversation_with_a_real_agent_goes_on(sandbox: Sandbox, name: str) -> None:
    dice = random.Random(f"{SEED} {name}")
    with agent_named(sandbox, name) as agent:
        trials = RealTrials(sandbox, agent)
        for number in range(100 * TIMES or 1):
            if number % 3 == 2:
                trials.host_killed(dice.randint(1, 100))
            else:
                victim = dice.choice(("host", "agent"))
                trials.killed_after(victim, dice.uniform(0.0, AGENTS[name]))
        print(f"{name}: unsure {trials.unsure} times")
        assert trials.unsure == 0 or name not in SURE
        trials.check_all()
