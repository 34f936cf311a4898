"""A conversation goes from Siding's own agent to Claude Code, and back."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from agents.conftest import AgentAtWork, ClaudeAtWork, CodexAtWork, agent_named
from golden.own_agent import GOLDEN, filled_in, session_of
from sandbox import Sandbox

OVER_THE_WIRE = "anthropic:claude-sonnet-5-5"  # its library takes seconds to load
WRITTEN = """
answers:
  - match: Write it
    steps:
      - tools: [{Write: {file_path: new.txt, content: "new"}}]
      - text: Written, said the aardvark.
"""


def asked_own(claude: AgentAtWork, prompt: str, *words: str, model: str = OVER_THE_WIRE) -> str:
    """Have a prompt answered by Siding's own agent; return what Siding says of it."""
    given = ("agent", "-p", prompt, "--model", model, *words)
    return claude.task.siding(*given, timeout=100).stderr.decode()


def sent(agent: AgentAtWork) -> str:
    """Return what the model was sent last."""
    assert agent.model is not None
    return json.dumps(agent.model.requests[-1]["messages"])


def of_list(task: Sandbox, *words: str) -> list[dict[str, Any]]:
    found = json.loads(task.siding("session", "list", "--format", "json", *words).stdout)
    rows: list[dict[str, Any]] = found["sessions"] if isinstance(found, dict) else found
    return rows


def home_of_claude(task: Sandbox, workspace: Path) -> Path:
    """Return the directory in which Claude Code keeps what was said in a directory."""
    name = re.sub(r"[^0-9A-Za-z]", "-", str(workspace))
    place = Path(task.env["HOME"]) / ".claude" / "projects" / name
    place.mkdir(parents=True, exist_ok=True)
    return place


def test_claude_goes_on_with_the_golden_transcript(claude: ClaudeAtWork) -> None:
    workspace = Path(os.path.realpath(claude.task.workspace()))
    transcript = filled_in(GOLDEN.read_text(), workspace)
    session = session_of(transcript)
    (home_of_claude(claude.task, workspace) / f"{session}.jsonl").write_text(transcript)
    claude.says(["It goes on."])
    claude.goes_on(session, "What now?")
    heard = sent(claude)
    told = ["fix it", '"name": "Edit"', "has been changed.", '"content": "seen"', "was not used"]
    assert [each in heard for each in [*told, "What now?"]] == [True] * 6


def test_it_goes_to_claude_and_comes_back(claude: ClaudeAtWork) -> None:
    task = claude.task
    script = task.directory / "script.yaml"
    script.write_text(WRITTEN)
    asked_own(claude, "Write it", "--permission-mode", "acceptEdits", model=f"scripted:{script}")
    assert (task.workspace() / "new.txt").read_text() == "new"
    (row,) = of_list(task, "--client", "siding")
    session = row["id"]
    line = task.siding("session", "open", session, "--print").stdout.decode()
    assert line.startswith("siding -C ")
    assert line.rstrip().endswith(f"--resume {session}")
    place = home_of_claude(task, Path(row["cwd"]))
    task.siding("session", "export", session, "--to", "claude", "-o", str(place), "--no-redact")

    claude.says(["The buffalo has read it."])
    claude.goes_on(session, "Read it")
    assert [each in sent(claude) for each in ("the aardvark", "new.txt")] == [True, True]

    claude.says(["I see all."])
    told = asked_own(claude, "Look back", "--resume", session)
    assert f"imported {place}" in told
    heard = sent(claude)
    assert [each in heard for each in ("the aardvark", "The buffalo", "Look back")] == [True] * 3
    told = asked_own(claude, "And again", "--resume", session)
    assert "imported" not in told
    assert "I see all." in sent(claude)


@pytest.mark.parametrize("client", [ClaudeAtWork.name, CodexAtWork.name])
def test_it_goes_on_with_what_others_have_held(client: str, sandbox: Sandbox) -> None:
    with agent_named(sandbox, client) as other:
        other.says([other.shell("echo 1 >1.txt")], ["Done, said the aardvark."])
        other.prompt("Make it")
        session = str(other.turns[-1]["session"])
        model = other.says(["I see."])
        sandbox.env |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "sk-ant-of-a-test"}
        assert "imported" in asked_own(other, "Look", "--resume", session)
        assert [each in sent(other) for each in ("echo 1", "the aardvark")] == [True, True]
