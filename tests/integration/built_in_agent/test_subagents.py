"""Subagents: each has a conversation of its own, the same permissions, and counts with its turn."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox, alive

from .scripts import denied, fixed, whole

KINDS = {
    "reader": {
        "description": "looks for things",
        "prompt": "You only read.",
        "tools": ["Read", "Grep"],
    },
    "editor": {"description": "mends things", "prompt": "You mend.", "model": "haiku"},
}


def told(agent: Sandbox) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of all subagents of each kind."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in Path(agent.env["SIDING_HOME"]).glob("projects/*/sessions/*/subagents/*.jsonl"):
        about = json.loads(path.with_suffix("").with_suffix(".meta.json").read_text())
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found.setdefault(about["agentType"], []).extend(lines)
    return found


def test_a_subagent_works_beside_the_conversation(agent: Sandbox) -> None:
    kinds = ("--agents", json.dumps(KINDS), "--permission-mode", "acceptEdits")
    found = whole(agent, "have editor mend", *kinds)
    assert found["result"] == "It said: Mended."
    assert fixed(agent)
    lines = told(agent)["editor"]
    assert all(line["isSidechain"] and line["agentId"] for line in lines)
    assert [line["type"] for line in lines] == ["user", *["assistant", "user"] * 2, "assistant"]
    assert lines[0]["message"]["content"] == "mend it, and report"
    (turn,) = [step for step in agent.steps() if step.get("origin") == "turn"]
    assert turn["diff_stat"]["file_list"] == ["calc.py"]
    # What both have used is in the result, in the step and in the conversation.
    own = sum(line["message"]["usage"]["output_tokens"] for line in lines if _said(line))
    (used,) = found["modelUsage"].values()
    assert used["outputTokens"] > own > 0
    assert turn["usage"]["scripted"]["calls"] == 5
    shown = agent.siding("session", "show", found["session_id"]).stdout.decode()
    assert "editor" in shown


def _said(line: dict[str, Any]) -> bool:
    return bool(line["type"] == "assistant")


def test_it_has_the_tools_of_its_kind_and_the_permissions_of_all(agent: Sandbox) -> None:
    kinds = ("--agents", json.dumps(KINDS))
    found = whole(agent, "have reader seek", *kinds)
    assert found["result"].startswith("It said: I found 2 files")
    nothing = whole(agent, "have reader mend", *kinds)
    assert nothing["result"] == "It said: Mended."  # so says its model, which had no such tool
    assert not fixed(agent)
    results = [str(each["message"]["content"]) for each in told(agent)["reader"]]
    assert any("There is no tool 'Edit'" in each for each in results)
    refused = whole(agent, "have general-purpose mend", *kinds)
    assert refused["result"] == "It said: I may not mend."
    assert denied(refused) == ["Edit"]
    unknown = whole(agent, "have nobody mend", *kinds)
    assert "There is no subagent 'nobody'" in unknown["result"]


def test_without_the_tool_there_are_none(agent: Sandbox) -> None:
    found = whole(agent, "have general-purpose seek", "--disallowed-tools", "Agent")
    assert "There is no tool 'Agent'" in found["result"]
    wrong = whole_error(agent, "--agents", '{"a": {}}')
    assert "agent 'a' needs a description" in wrong


def whole_error(agent: Sandbox, *flags: str) -> str:
    model = f"scripted:{agent.directory / 'script.yaml'}"
    done = agent.siding("agent", "-p", "x", "--model", model, *flags, status=2)
    return done.stderr.decode()


def test_an_interrupt_ends_what_a_subagent_has_started(agent: Sandbox) -> None:
    sdk = pytest.importorskip("claude_agent_sdk", reason="pip: claude-agent-sdk")
    from .test_sdk import options

    given = options(
        agent,
        agents={"slow": sdk.AgentDefinition(description="slow", prompt="You rest.")},
        allowed_tools=["Bash"],
    )
    resting = agent.workspace() / "resting"

    async def hold() -> Any:
        async with sdk.ClaudeSDKClient(given) as client:
            await client.query("have slow rest")
            until = time.monotonic() + 60
            while not (resting.exists() and resting.read_text().strip()):
                assert time.monotonic() < until
                await asyncio.sleep(0.05)
            await client.interrupt()
            return [each async for each in client.receive_response()]

    said = asyncio.run(hold())
    assert said[0].data["agents"] == ["general-purpose", "slow"]
    assert said[-1].subtype == "error_during_execution"
    assert not alive(int(resting.read_text()))
    # What the subagent had used until then counts: its answer is one more than the agent's own.
    (asked,) = [each for each in said if isinstance(each, sdk.AssistantMessage)]
    assert said[-1].usage["output_tokens"] > asked.usage["output_tokens"] > 0


def test_files_define_kinds_of_subagents(agent: Sandbox) -> None:
    mine = Path(agent.env["HOME"]) / ".claude" / "agents"
    theirs = agent.workspace() / ".claude" / "agents"
    for directory in (mine, theirs):
        directory.mkdir(parents=True)
    head = "name: reader\ndescription: looks for things\ntools: Read, Grep\n"
    (mine / "reader.md").write_text(f"---\n{head}---\n\nYou read as I do.\n")
    (mine / "editor.md").write_text("---\ndescription: mends things\n---\nYou mend.\n")
    (theirs / "reader.md").write_text(f"---\n{head}model: haiku\n---\nYou only read.\n")
    (theirs / "broken.md").write_text("---\nname: [\n---\n")
    (theirs / "plain.md").write_text("You do nothing.\n")
    found = whole(agent, "have reader seek")
    assert found["result"].startswith("It said: I found 2 files")
    nothing = whole(agent, "have reader mend")
    assert nothing["result"] == "It said: Mended."  # its model says so, which had no such tool
    assert not fixed(agent)
    edits = ("--permission-mode", "acceptEdits")
    assert whole(agent, "have editor mend", *edits)["result"] == "It said: Mended."
    assert fixed(agent)
    done = agent.siding(
        "agent", "-p", "x", "--model", f"scripted:{agent.directory / 'script.yaml'}", status=None
    )
    assert b"broken.md defines no subagent: its head is not valid YAML" in done.stderr
    assert b"plain.md defines no subagent: it does not begin with `---`" in done.stderr
