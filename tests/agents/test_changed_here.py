"""A conversation that was changed here goes on so, in the client that it is of."""

import json
import os
from pathlib import Path

import pytest

from agents.conftest import FORGET, AgentAtWork, GeminiAtWork, agent_named
from client_homes import bytes_below
from sandbox import Sandbox

CLIENTS = [kind.name for kind in (*FORGET, GeminiAtWork)]
WORDS = ("aardvark", "buffalo", "cormorant")


def talked(agent: AgentAtWork) -> str:
    """Have two prompts answered; return the conversation's id."""
    agent.says([agent.shell("echo 1 >1.txt")], ["Done."], ["Noted."])
    agent.prompt(f"Make the {WORDS[0]}")
    session = str(agent.turns[-1]["session"])
    if agent.name == "gemini":
        begun_earlier(agent)
    agent.goes_on(session, f"And the {WORDS[1]}")
    return session


def begun_earlier(agent: AgentAtWork) -> None:
    """Give the conversation's file the name of an earlier minute.

    As it goes on in another minute than that, the Gemini CLI itself would remove it the next time
    (`adapters.agents.gemini` says why).
    """
    (path,) = Path(agent.task.env["HOME"]).glob(".gemini/tmp/*/chats/session-*.jsonl")
    path.rename(path.with_name(f"session-2026-11-24T01-00-{path.name[-14:]}"))


def opened(agent: AgentAtWork, session: str) -> str:
    """Return the id with which the client goes on with a session: a stand-in says it."""
    programs = agent.task.directory / "stand-ins"
    programs.mkdir(exist_ok=True)
    (programs / agent.name).write_text('#!/bin/sh\necho "$@"\n')
    (programs / agent.name).chmod(0o755)
    path = {"PATH": os.pathsep.join([str(programs), agent.task.env["PATH"]])}
    line = agent.task.siding("session", "open", session, env=path).stdout.decode().strip()
    return line.split()[-1]


def heard(agent: AgentAtWork, session: str) -> str:
    """Go on with a session; return what the model was sent."""
    model = agent.says(["I see."])
    agent.goes_on(session, f"Now the {WORDS[2]}")
    return json.dumps(model.requests[-1])


def number_of(agent: AgentAtWork, session: str, text: str) -> str:
    """Return the number of the message before the one that has the text."""
    shown = agent.task.siding("session", "show", session, "--no-redact").stdout.decode()
    before = shown[: shown.index(text)]
    marks = [line.split()[0] for line in before.splitlines() if line.startswith("#")]
    return marks[-2].removeprefix("#")


@pytest.mark.parametrize("client", CLIENTS)
def test_it_goes_on_without_what_was_left_behind(client: str, sandbox: Sandbox) -> None:
    with agent_named(sandbox, client) as agent:
        session = talked(agent)
        home = Path(agent.task.env["HOME"])
        there = bytes_below(home)
        told = agent.task.siding(
            "session", "rewind", session, number_of(agent, session, f"the {WORDS[1]}")
        ).stderr.decode()
        assert f"imported {home}" in told
        assert f"siding session open {session}" in told
        assert bytes_below(home) == there
        copy = opened(agent, session)
        assert copy != session
        assert bytes_below(home).items() >= there.items()  # there is a file more
        sent = heard(agent, copy)
        assert [word in sent for word in WORDS] == [True, False, True]
        sent = heard(agent, session)
        assert [word in sent for word in WORDS] == [True] * 3


@pytest.mark.parametrize("client", CLIENTS)
def test_a_summary_is_what_the_model_hears(client: str, sandbox: Sandbox) -> None:
    with agent_named(sandbox, client) as agent:
        session = talked(agent)
        notes = agent.task.repo / "notes.md"
        notes.write_text("They spoke of an okapi.\n")
        agent.task.siding("session", "compact", session, "--summary", str(notes))
        sent = heard(agent, opened(agent, session))
        assert [word in sent for word in WORDS] == [False, False, True]
        assert "of an okapi" in sent


@pytest.mark.parametrize("client", CLIENTS)
def test_a_branch_goes_on_beside_the_old_one(client: str, sandbox: Sandbox) -> None:
    with agent_named(sandbox, client) as agent:
        session = talked(agent)
        branch = agent.task.siding("session", "branch", session).stdout.decode().strip()
        copy = opened(agent, branch)
        assert (copy == branch) == (client == "claude")
        sent = heard(agent, copy)
        assert [word in sent for word in WORDS] == [True] * 3
        agent.task.siding("session", "rewind", copy, "1")  # it can be brought in again
