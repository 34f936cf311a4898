"""What real agents ask before they report is said before they start, and seen by who watches."""

import json
import re
import time
from pathlib import Path

import pytest

from agents.conftest import AgentAtWork, agent_named
from sandbox import Sandbox
from siding.agents.start_questions import SAYS, Question
from siding.agents.table import BY_NAME

TRUST = SAYS[Question.TRUST]
_MOVES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def untrusting(agent: AgentAtWork) -> list[str]:
    """Return the command line of its screen where nobody has trusted the folder."""
    words = agent.interactive()
    if agent.name == "codex":
        return words[:-2]
    path = Path(agent.task.env["HOME"], ".claude.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), "projects": {}}))
    return words


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_trust_is_asked_for_and_that_is_known(sandbox: Sandbox, name: str) -> None:
    with agent_named(sandbox, name) as agent:
        agent.says()
        words = untrusting(agent)
        sandbox.env["TERM"] = "xterm-256color"
        done = sandbox.siding("run", "--detach", "--tty", "--", *words)
        said = f"will wait for you on its screen: {TRUST}\n"
        assert done.stderr.decode().count(said) == 1
        (run,) = sandbox.json("runs", "--format", "json")
        assert run["waits"] == TRUST  # before anything is on its screen
        asked = ["".join(each.split()) for each in BY_NAME[name].trust]
        end = time.monotonic() + 60
        while not any(each in _screen(sandbox) for each in asked):
            assert time.monotonic() < end, _screen(sandbox)
            time.sleep(0.2)
        sandbox.siding("stop", "r1")


def _screen(sandbox: Sandbox) -> str:
    shown = sandbox.siding("output", "r1", status=None).stdout.decode()
    return "".join(_MOVES.sub("", shown).split())
