"""Files that steer agents: those that anybody obeys, and those of the agents the caller knows."""

import pytest

from siding.policy.hosts import obeys
from siding.policy.steering import steers

OF_BOT = (".bot/", "BOT.md", ".bothints")


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "docs/AGENTS.override.md",
        ".mcp.json",
        ".cursor",
        "web/.husky/pre-commit",
        ".github/agents/reviewer.md",
        ".vscode/settings.json",
    ],
)
def test_what_anybody_obeys_steers_whoever_is_known(path: str) -> None:
    assert steers(path, ())
    assert steers(path, OF_BOT)


@pytest.mark.parametrize(
    "path", [".bot", ".bot/hooks", "a/.bot/x", "BOT.md", "a/BOT.local.md", ".bothints"]
)
def test_what_an_agent_obeys_steers_when_the_agent_is_known(path: str) -> None:
    assert steers(path, OF_BOT)
    assert not steers(path, ())


@pytest.mark.parametrize(
    "path", ["bot/x", ".bots/x", "ROBOT.md", "BOT.md/x", "bot.md", ".bothints.py", "xbot/.b", "Bot"]
)
def test_a_name_that_only_looks_like_it_does_not(path: str) -> None:
    assert not steers(path, OF_BOT)


def test_the_ports_of_agents_are_told_by_the_caller() -> None:
    line = "http://127.0.0.1:4711/x"
    assert obeys(line, {4711})
    assert not obeys(line, ())
    assert obeys("http://127.0.0.1:2375/x", ())  # a port of no agent's
