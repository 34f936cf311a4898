"""Real agents under `--meter`: what is counted on the wire is what the model's server has said."""

import os
from pathlib import Path
from typing import Any

import pytest

from agents.conftest import AgentAtWork, ClaudeAtWork, CodexAtWork, agent_named
from agents.models import Cut, Failure
from bwrap import needs_bwrap
from sandbox import Sandbox

KEYS = ("sk-ant-of-a-test", "sk-of-a-test", "of-a-test")


def used(wire: dict[str, Any]) -> tuple[int, int, int]:
    """Return the sums of a report: tokens in and out, and how many calls."""
    models = wire["usage"].values()
    return tuple(sum(each.get(name, 0) for each in models) for name in ("input", "output", "calls"))


def metered(agent: AgentAtWork, *options: str) -> dict[str, Any]:
    """Have a prompt answered; return what the newest run has of the wire."""
    agent.prompt("do it", options=["--meter", *options])
    wire = agent.run["wire"]
    assert isinstance(wire, dict)
    return wire


def test_the_counts_are_those_of_the_server(agent: AgentAtWork) -> None:
    model = agent.says([agent.shell("echo 2 >new")], ["done"])
    wire = metered(agent)
    assert used(wire) == model.used
    assert wire["requests"] >= 2
    assert "failed" not in wire
    (turn,) = agent.turns
    assert used(turn["wire"])[2] >= 2
    shown = agent.task.siding("show", agent.run["step_id"]).stdout.decode()
    assert "\nwire      " in shown
    assert "than its transcript says" not in shown
    assert agent.task.siding("verify").returncode == 0


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_errors_and_retries_are_in_the_step(sandbox: Sandbox, name: str) -> None:
    over = Failure(529 if name == "claude" else 503)
    with agent_named(sandbox, name) as agent:
        model = agent.says(over, Failure(429) if name == "claude" else over, ["done"])
        wire = metered(agent)
        assert used(wire) == model.used
        assert wire["failed"] == 2
        assert wire["retries"] == 2
        assert wire["statuses"] | {"200": 0} == (
            {"200": 0, "429": 1, "529": 1} if name == "claude" else {"200": 0, "503": 2}
        )
        assert wire["errors"]


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_stream_that_is_cut_is_in_the_step(sandbox: Sandbox, name: str) -> None:
    with agent_named(sandbox, name) as agent:
        agent.says(Cut("half of", events=3 if name == "claude" else 2), ["done"])
        wire = metered(agent)
        assert wire["cut"] == 1
        assert wire["requests"] >= 2
        assert "1 cut by the server" in agent.task.siding("show").stdout.decode()


@needs_bwrap
@pytest.mark.parametrize("name", ["claude", "codex"])
def test_in_a_sandbox_with_a_list_of_hosts(sandbox: Sandbox, name: str) -> None:
    with agent_named(sandbox, name) as agent:
        model = agent.says([agent.shell("echo 2 >new")], ["done"])
        wire = metered(agent, "--network", "allow")
        assert used(wire) == model.used
        assert agent.run["sandbox"]["network"] == "allow"
        assert (agent.task.workspace() / "new").read_text() == "2\n"


def test_calls_in_a_websocket_are_counted(sandbox: Sandbox) -> None:
    with agent_named(sandbox, "codex") as agent:
        assert isinstance(agent, CodexAtWork)
        agent.more = ",supports_websockets=true"
        model = agent.says([agent.shell("echo 2 >new")], ["done"])
        wire = metered(agent)
        assert model.sockets
        assert (agent.task.workspace() / "new").read_text() == "2\n"
        assert used(wire) == model.used
        assert "uncounted" not in wire
        (turn,) = agent.turns
        assert used(turn["wire"])[2] >= 2


def test_no_key_is_on_the_disk(claude: ClaudeAtWork) -> None:
    """What Siding writes has neither the key nor the secret of the proxy's address."""
    claude.says([claude.shell('echo "$ANTHROPIC_BASE_URL"')], ["done"])
    metered(claude)
    own = Path(claude.task.env["SIDING_HOME"])
    found = [
        path
        for path in own.rglob("*")
        if path.is_file() and any(key.encode() in path.read_bytes() for key in KEYS)
    ]
    assert found == []
    assert len([path for path in own.rglob("*.wire") if path.stat().st_size]) == 1
    assert os.environ.get("ANTHROPIC_BASE_URL") is None
