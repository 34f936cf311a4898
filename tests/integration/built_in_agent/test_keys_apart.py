"""What the agent is reached with stays with it: none of what it starts sees a key or the token."""

import json

import pytest

from bwrap import bwrap_problem
from sandbox import Sandbox

KEYS = {
    "ANTHROPIC_API_KEY": "key-of-the-model-1",
    "GEMINI_API_KEY": "key-of-the-model-2",
    "AZURE_OPENAI_API_KEY": "key-of-the-model-3",
    "AWS_BEARER_TOKEN_BEDROCK": "key-of-the-model-4",
    "OPENAI_BASE_URL": "https://me:key-of-the-model-5@gateway.example/v1",
    "OPENAI_API_KEY": "key-that-is-passed",
}
OTHERS = {"AWS_SECRET_ACCESS_KEY": "of-the-person", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
LOOK = r'env >>$OUT; cat /proc/[0-9]*/environ 2>&1 | tr "\0" "\n" >>$OUT.processes'
ASK = "siding status >$OUT.status; siding devices remove x 2>$OUT.devices; true"
SCRIPT = r"""
answers:
  - match: look
    steps:
      - tools:
          - {Bash: {command: 'LOOK; ASK'}}
          - {Bash: {command: 'LOOK; echo shell >>$OUT', run_in_background: true}}
          - {Agent: {description: see, prompt: see, subagent_type: general-purpose}}
      - text: done
  - match: see
    steps:
      - tools: [{Bash: {command: 'LOOK; echo subagent >>$OUT'}}]
      - text: seen
"""


@pytest.mark.parametrize("guard", ["", "--sandbox"])
def test_nothing_that_it_starts_sees_a_key_or_the_token(agent: Sandbox, guard: str) -> None:
    if guard and (problem := bwrap_problem()):
        pytest.skip(problem)
    (agent.directory / "script.yaml").write_text(SCRIPT.replace("LOOK", LOOK).replace("ASK", ASK))
    out = agent.workspace() / "seen"
    agent.env |= {**KEYS, **OTHERS, "OUT": str(out)}
    script = str(agent.directory / "script.yaml")
    settings = {
        "model": f"scripted:{script}",
        "env": {"GOOGLE_API_KEY": "key-of-the-model-6", "PLAIN": "of-the-settings"},
        "pass_env": ["OPENAI_API_KEY"],
        "permissions": {"allow": ["Bash", "Agent"]},
        "stop_hooks": [f"{LOOK}; echo hook >>$OUT"],
    }
    # It ends at once, so it counts as one that is not there; what it was started with is enough.
    server = {
        "command": "sh",
        "args": ["-c", f"{LOOK}; echo $GIVEN >>$OUT"],
        "env": {"GIVEN": "server-${GEMINI_API_KEY}"},
    }
    words = ["-p", "look", "--settings", json.dumps(settings)]
    words += ["--mcp-config", json.dumps({"mcpServers": {"s": server}})]
    sandboxed = [guard, "--read", script] if guard else []
    agent.siding("agent", *words, *sandboxed)
    seen = out.read_text()
    for each in ("shell", "subagent", "hook", "server-key-of-the-model-2"):
        assert f"{each}\n" in seen, seen
    seen = seen.replace("server-key-of-the-model-2", "").replace("GIVEN=", "")
    assert "key-of-the-model" not in seen
    assert "SIDING_STEP_TOKEN" not in seen
    for each in ("key-that-is-passed", *OTHERS.values(), "of-the-settings"):
        assert each in seen, each
    if guard:  # the processes are those of the sandbox alone
        processes = out.with_name("seen.processes").read_text()
        assert "key-of-the-model" not in processes.replace("server-key-of-the-model-2", "")
        assert "SIDING_STEP_TOKEN=" not in processes
    else:  # its commands know that they are inside a step, and can ask about it
        assert "calc" in out.with_name("seen.status").read_text()
        assert "inside a task's step" in out.with_name("seen.devices").read_text()
