"""Whoever is killed, whenever, while a real agent works: its conversation goes on, and what it
changed is in a step."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from agents.conftest import AgentAtWork, agent_named
from sandbox import SIDING, Sandbox, alive

SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
TIMES = int(os.environ.get("SIDING_FAULTS_TIMES", "0"))
VICTIMS = ("agent", "host", "both")
AGENTS = ("claude", "codex")
LONGEST_S = 2.5  # a turn of these agents takes 1 to 2 s


def drawn() -> list[tuple[str, str, float]]:
    """Return agents, victims and moments: one of each victim in the suite."""
    dice = random.Random(SEED)
    cases = [(AGENTS[at % 2], victim) for at, victim in enumerate(VICTIMS)]
    if TIMES:
        cases = [(agent, victim) for agent in AGENTS for victim in VICTIMS] * 2 * TIMES
    return [(agent, victim, round(dice.uniform(0.2, LONGEST_S), 2)) for agent, victim in cases]


class Killed:
    """A run of an agent whose host, or itself, is killed."""

    def __init__(self, agent: AgentAtWork, words: list[str]) -> None:
        self._home = Path(agent.task.env["SIDING_HOME"])
        self._process = subprocess.Popen(
            [*SIDING, "run", "--", *words],
            cwd=agent.task.repo,
            env=dict(agent.task.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill(self, victim: str) -> None:
        pids = {"host": self._process.pid, "agent": self._command()}
        for name in ("agent", "host") if victim == "both" else (victim,):
            if pids[name]:
                os.kill(pids[name], signal.SIGKILL)
        self._process.wait(60)

    def _command(self) -> int:
        """Return the process of the agent; 0 if it was not started yet, or has ended."""
        for path in self._home.glob("projects/*/tasks/*/runs/r*.json"):
            pid = json.loads(path.read_text()).get("command", {}).get("pid", 0)
            if pid and alive(pid):
                return int(pid)
        return 0


def left(home: str) -> list[str]:
    """Return the processes that still have this home of Siding in their environment."""
    wanted, found = f"SIDING_HOME={home}".encode(), []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (path / "environ").read_bytes().split(b"\0"):
                found.append((path / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(("name", "victim", "after_s"), drawn())
def test_a_session_goes_on_after_a_kill(
    sandbox: Sandbox, name: str, victim: str, after_s: float
) -> None:
    with agent_named(sandbox, name) as agent:
        task, workspace = agent.task, agent.task.workspace()
        agent.says([agent.shell("echo 1 >1.txt")], ["Done."])
        agent.prompt("The first")
        session = str(agent.turns[-1]["session"])
        agent.says([agent.shell("echo 2 >2.txt; sleep 0.3; echo 2 >>2.txt")], ["Done."])
        run = Killed(agent, agent.again(session, "The second"))
        time.sleep(after_s)
        run.kill(victim)

        task.siding("status")
        deadline = time.monotonic() + 20
        while found := left(task.env["SIDING_HOME"]):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)
        agent.says([agent.shell("echo 3 >3.txt")], ["Done."])
        agent.goes_on(session, "The third")

        asked = [turn["message"] for turn in agent.turns]
        assert asked in (
            ["The first", "The second", "The third"],
            ["The first", "The third"],
        )
        assert agent.turns[-1]["diff_stat"]["file_list"] == ["3.txt"]
        if (workspace / "2.txt").exists():
            steps = [each for each in task.steps() if "2.txt" in each["diff_stat"]["file_list"]]
            assert steps, "what it wrote is in no step"
            assert int(steps[-1]["step_id"]) < int(agent.turns[-1]["step_id"])
        task.siding("verify")
        task.siding("rewind", str(agent.turns[-1]["step_id"]))
        assert not (workspace / "3.txt").exists()
        assert (workspace / "1.txt").exists()
