"""What keeps an agent of a workflow from working: the policy, a person, the sandbox, its level."""

import asyncio
import json
import shlex
from pathlib import Path

import pytest

from agents.calls.bench import Bench, call
from agents.calls.subjects import Acp, Plain, Scripted, Told
from bwrap import needs_bwrap
from sandbox import Sandbox
from siding.agents.headless.command import behind_acp
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.engine.ports import Attempt, Report
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome

NO_MADE = "rules: [{name: no-made, pattern: 'made', action: block, reason: not here}]\n"


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "called")
    return sandbox


def rules(task: Sandbox, text: str) -> None:
    path = task.repo / ".siding" / "policy.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def test_a_command_that_the_policy_blocks_does_not_begin(task: Sandbox) -> None:
    rules(task, "rules: [{name: no-true, pattern: '^true', action: block, reason: not here}]\n")
    outcome = Bench(Plain(task), command=["true"]).call("x")
    assert isinstance(outcome, Dead), outcome
    assert (outcome.reason, outcome.retryable) == (DeadReason.BLOCKED, False)
    assert "no-true" in outcome.detail


def test_an_agent_that_a_person_stops_is_not_run_again(task: Sandbox) -> None:
    subject = Plain(task)
    subject.told(wait=Told(command="sleep 300"))

    async def stopped(agents: ProgramAgents) -> Outcome:
        began = asyncio.Event()

        def report(said: Report) -> None:
            if said.work.run:
                began.set()

        run = asyncio.ensure_future(agents.run(call("wait", label="w"), Attempt(), report))
        await began.wait()
        await asyncio.to_thread(task.siding, "stop", "w")
        return await run

    outcome = Bench(subject).loop(stopped)
    assert isinstance(outcome, Dead), outcome
    assert (outcome.reason, outcome.retryable) == (DeadReason.KILLED, False)


def test_what_it_says_has_no_secrets(task: Sandbox) -> None:
    key = "ghp_" + "a1B2" * 9
    subject = Plain(task)
    subject.told(tell=Told(text=f"the key is {key}"))
    outcome = Bench(subject).call("tell")
    assert isinstance(outcome, Done), outcome
    assert key not in outcome.output
    assert "[redacted:" in outcome.output


@needs_bwrap
def test_in_a_sandbox_it_has_its_files(task: Sandbox) -> None:
    subject = Scripted(task)
    subject.told(first=Told(text="done", command="make a.txt"))
    outcome = Bench(subject, sandbox=True).call("first")
    assert isinstance(outcome, Done), outcome
    assert (task.workspace() / "a.txt").exists()
    files = Bench(Plain(task), command=["cat", "{prompt_file}"], sandbox=True)
    outcome = files.call("from a file")
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "from a file"
    run = [step for step in task.steps() if step["kind"] == "run"][-1]
    assert run["sandbox"]["engine"]


def test_acp_is_held_to_its_workspace_and_its_level(task: Sandbox) -> None:
    subject = Acp(task)
    outside = task.directory / "outside"
    table = {
        "write": {
            "text": "written",
            "write": {"in.txt": "in", str(outside): "out", ".git/x": "out", "link/y": "out"},
            "command": "echo x >ran",
        }
    }
    workspace = task.workspace()
    (workspace / "link").symlink_to(task.directory)
    subject.table.write_text(json.dumps(table))
    outcome = Bench(subject, permissions="edit").call("write it")
    assert isinstance(outcome, Done), outcome
    assert (workspace / "in.txt").read_text() == "in"
    assert not outside.exists()
    assert not (task.directory / "y").exists()
    assert not (workspace / "ran").exists()
    denied = [f"write {outside}", "write .git/x", "write link/y", "`echo x >ran`"]
    assert outcome.extra["denied"] == denied


def test_commands_of_acp_go_to_the_policy_and_its_turns_are_steps(task: Sandbox) -> None:
    rules(task, NO_MADE)
    subject = Acp(task)
    subject.told(bad=Told(command="echo made >ran"), good=Told(text="well", command="echo x >ran"))
    bench = Bench(subject, permissions="edit")
    outcome = bench.call("a bad one")
    assert isinstance(outcome, Dead), outcome  # it has no answer
    assert not (task.workspace() / "ran").exists()
    outcome = bench.call("a good one")
    assert isinstance(outcome, Done), outcome
    assert (task.workspace() / "ran").exists()
    turns = [step for step in task.steps() if step.get("origin") == "turn"]
    assert turns[-1]["prompt"] == "a good one"


def test_much_on_standard_error_does_not_stop_an_acp_agent(task: Sandbox) -> None:
    subject = Acp(task)
    subject.table.write_text(json.dumps({"loud": {"text": "heard", "noise": 4 << 20}}))
    outcome = Bench(subject).call("be loud")
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "heard"


def test_an_acp_agent_that_goes_away_is_told(task: Sandbox) -> None:
    outcome = Bench(Acp(task), command=["sh", "-c", "exit 7"]).call("x")
    assert isinstance(outcome, Dead), outcome
    assert (outcome.reason, outcome.retryable) == (DeadReason.UNKNOWN, True)
    assert "7" in outcome.detail or "gone away" in outcome.detail


def acp_behind_claude(task: Sandbox) -> Bench:
    """Return a bench of an agent that speaks ACP by the name of one that Siding knows."""
    home, subject = Path(task.env["HOME"]), Acp(task)
    table = home / ".claude" / "projects" / "answers.json"  # where that agent may write, sandboxed
    front = home / ".local" / "bin" / "claude-agent-acp"
    for directory in (table.parent, front.parent):
        directory.mkdir(parents=True)
    rows = {
        "out": {"text": "x"},
        "bad": {"text": "x", "command": "sudo -n true; echo x >ran"},
    }
    table.write_text(json.dumps(rows))
    python, program, _table = subject.settings()["command"]
    copy = table.with_name("agent.py")  # a checkout below /tmp is not there in a sandbox
    copy.write_text(Path(program).read_text())
    said = shlex.join([python, str(copy), str(table)])
    front.write_text(f'#!/bin/sh\necho x >"$HOME/out"\nexec {said}\n')
    front.chmod(0o755)
    task.env["PATH"] = f"{front.parent}:{task.env['PATH']}"
    return Bench(subject, command=["claude-agent-acp"])


@needs_bwrap
def test_an_acp_agent_that_is_known_is_guarded_where_a_person_said_so(task: Sandbox) -> None:
    bench = acp_behind_claude(task)
    out = Path(task.env["HOME"]) / "out"
    for word in ("out", "bad"):
        assert isinstance(bench.call(word), Done)
    assert out.exists()
    assert (task.workspace() / "ran").exists()
    out.unlink()
    (task.workspace() / "ran").unlink()
    task.siding("guard", "on")
    outcome = bench.call("out")
    assert isinstance(outcome, Done), outcome
    assert not out.exists()
    run = [step for step in task.steps() if step["kind"] == "run"][-1]
    assert run["sandbox"]["profile"] == "claude"
    outcome = bench.call("bad")
    assert not (task.workspace() / "ran").exists()
    bench.configure(command=["claude-agent-acp"], sandbox=False)  # the settings go before it
    bench.call("out")
    assert out.exists()


def test_the_agent_behind_a_command_line() -> None:
    assert behind_acp(("npx", "-y", "@zed-industries/claude-code-acp@0.4")) == "claude"
    assert behind_acp(("/opt/codex-acp",)) == "codex"
    assert behind_acp(("gemini", "--experimental-acp")) == "gemini"
    assert behind_acp(("python3", "agent.py", "claude.json")) == ""
