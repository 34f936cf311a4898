"""What the hook of a run lets its agent do, and what becomes of questions that nobody answers.

The agent is a program that starts the hook it is told to, as Claude Code does.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandbox import SIDING, Sandbox

from .inside import until

CLAUDE = f"""#!{sys.executable}
import json, os, subprocess, sys
settings = json.loads(sys.argv[sys.argv.index("--settings") + 1])
(group,) = settings["hooks"]["PreToolUse"]
(hook,) = group["hooks"]
for said in json.loads(os.environ["CALLS"]):
    words = json.dumps(said).encode()
    done = subprocess.run(hook["command"], shell=True, input=words, capture_output=True)
    print(json.dumps([done.returncode, done.stdout.decode()]), flush=True)
"""


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    """A task with a policy, and an agent on PATH."""
    programs = sandbox.directory / "programs"
    programs.mkdir()
    (programs / "claude").write_text(CLAUDE)
    (programs / "claude").chmod(0o755)
    sandbox.env["PATH"] = os.pathsep.join([str(programs), sandbox.env["PATH"]])
    sandbox.siding("task", "start", "judged")
    (sandbox.repo / ".siding").mkdir(exist_ok=True)
    (sandbox.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    return sandbox


def call(tool: str, given: object, **more: object) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, **more}


def verdicts(task: Sandbox, calls: list[dict[str, Any]], *options: str) -> list[str]:
    """Return why each call is not done; "" for one that is."""
    return tried(task, calls, *options)[0]


def tried(task: Sandbox, calls: list[dict[str, Any]], *options: str) -> tuple[list[str], str]:
    """Return that, and what `siding run` said meanwhile."""
    env = {"CALLS": json.dumps(calls)}
    done = task.siding("run", *options, "--", "claude", env=task.env | env)
    found = []
    for line in done.stdout.decode().splitlines():
        status, output = json.loads(line)
        specific = json.loads(output or "{}").get("hookSpecificOutput", {})
        found.append("status 2" if status == 2 else specific.get("permissionDecisionReason", ""))
    return found, done.stderr.decode()


SUDO = "sudo rm -rf /"
NOT_UNDERSTOOD = [
    call("Bash", {"cmd": SUDO}),
    call("Bash", SUDO),
    call("Bash", None),
    call("Bash", {"command": ["sudo", "rm"]}),
    call("Write", {"path": "/etc/passwd"}),
    call("Write", [{"file_path": "/etc/passwd"}]),
    call("WebFetch", {"address": "https://e.org"}),
    call("", {"command": SUDO}),
    {"hook_event_name": "BeforeUse", "tool_name": "Bash", "input": {"command": SUDO}},
]


def test_required_verdicts_fail_closed(task: Sandbox) -> None:
    fine = [
        call("Bash", {"command": "ls"}),
        call("TodoWrite", {"todos": []}),
        call("Agent", {"prompt": "count", "subagent_type": "fork"}),
        call("Skill", {"skill": "x"}),
        call("mcp__siding__task", {}),
        call("Grep", {"pattern": "x"}),
        call("SendMessage", {"to": "counter", "message": "go on"}),
        call("ScheduleWakeup", {"stop": True}),
    ]
    asked = [
        call("PowerShell", {"command": "Remove-Item /"}),
        call("Frobnicate", {"x": 1}),
        call("mcp__shop__buy", {"item": "a"}),
        call("EnterWorktree", {"name": "zz"}),
        call("Agent", {"prompt": "x", "isolation": "worktree"}),
        call("CronCreate", {"cron": "* * * * *", "prompt": "x", "durable": True}),
        call("ScheduleWakeup", {"delaySeconds": 60, "prompt": "x"}),
        call("SendMessage", {"to": "uds:/tmp/x.sock", "message": "x"}),
        call("Monitor", {"command": "git push --force"}),
        call("Grep", {"pattern": "x", "directory": "~/.ssh/id_rsa"}),
    ]
    blocked = [call("Bash", {"command": SUDO}), call("Monitor", {"command": SUDO})]
    no_tool = {"event": "PreToolUse", "tool": "Bash", "tool_input": {"command": SUDO}}
    calls = [*NOT_UNDERSTOOD, *fine, *asked, *blocked, no_tool]
    found = verdicts(task, calls, "--judge", "require", "--ask", "deny")
    kinds = [
        word
        for each in found
        for word in ("does not understand", "nobody is asked", "policy blocks", "status 2", "")
        if word in each
    ]
    assert [each for each in kinds if each] == [
        *["does not understand"] * len(NOT_UNDERSTOOD),
        *["nobody is asked"] * len(asked),
        *["policy blocks"] * len(blocked),
        "status 2",
    ]
    assert found[len(NOT_UNDERSTOOD) :][: len(fine)] == [""] * len(fine)
    step = task.steps()[-1]
    notes = " ".join(step["notes"])
    for named in ("Bash: there is no 'command'", "Write: there is no 'file_path'", "no tool"):
        assert f"refused: {named}" in notes.replace("a call that names no tool", "no tool")
    assert "EnterWorktree zz" in notes
    # Without `require` what is not understood goes the agent's own way, and is named.
    found = verdicts(task, [*NOT_UNDERSTOOD[:2], call("Frobnicate", {}), *asked[3:4]], "--ask=deny")
    assert [bool(each) for each in found] == [False, False, False, True]
    assert "not judged: Bash" in " ".join(task.steps()[-1]["notes"])


def test_an_unanswered_question_is_a_no(task: Sandbox) -> None:
    pushes = [call("Bash", {"command": "git push --force"}, tool_use_id="c1")]
    (found,), said = tried(task, pushes, "--ask", "1s")
    assert "nobody answered within 1 s" in found
    assert "May claude run this? git push --force" in said
    assert "siding decide answer" in said
    assert "after 1 s the answer is no" in said
    assert "not done, because nobody answered within 1 s: git push" in said
    assert "nobody answered" in " ".join(task.steps()[-1]["notes"])
    assert task.json("decide", "list", "--json") == []
    (closed,) = task.json("decide", "list", "--all", "--json")
    assert closed["state"] == "cancelled"
    (task.project / "config.yaml").write_text("version: 1\nagents: {ask: sometimes}\n")
    refused = task.siding("run", "--", "claude", status=None)
    assert "agents.ask" in refused.stderr.decode()


@contextmanager
def waiting(task: Sandbox, *calls: dict[str, Any], options: tuple[str, ...] = ()) -> Iterator[Any]:
    """A run whose agent waits for a person."""
    env = task.env | {"CALLS": json.dumps(calls)}
    words = [*SIDING, "run", *options, "--", "claude"]
    run = subprocess.Popen(
        words,
        cwd=task.repo,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: task.json("decide", "list", "--json"))
        yield run
    finally:
        run.kill()
        run.communicate()


def test_a_tool_that_nobody_knows_is_asked_about_once(task: Sandbox) -> None:
    calls = [call("mcp__shop__buy", {"item": n}, tool_use_id=f"c{n}") for n in (1, 2)]
    with waiting(task, *calls, options=("--judge", "require")) as run:
        (entry,) = task.json("inbox", "--json")
        assert entry["title"].startswith('May claude do this? mcp__shop__buy {"item": 1}')
        task.siding("decide", "answer", entry["session_id"], "-c", "1=always")
        output, _ = run.communicate(timeout=60)
    assert [json.loads(line) for line in output.splitlines()] == [[0, ""], [0, ""]]
    assert verdicts(task, calls, "--judge", "require", "--ask", "deny") == ["", ""]


def kill_with_broker(host: int) -> None:
    """Kill the host of a run and its broker, as if the machine went down: nobody can say more."""
    os.kill(host, signal.SIGSTOP)  # or it would start another broker
    for child in Path(f"/proc/{host}/task/{host}/children").read_text().split():
        if b"__broker" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)
    os.kill(host, signal.SIGKILL)


@pytest.mark.parametrize("end", ["stop", "KILL"])
def test_an_open_question_ends_with_its_run(task: Sandbox, end: str) -> None:
    with waiting(task, call("Bash", {"command": "git push --force"}, tool_use_id="c")) as run:
        (entry,) = task.json("inbox", "--json")
        session = entry["session_id"]
        (record,) = task.project.glob("tasks/*/runs/r1.json")
        assert json.loads(record.read_text())["ask_s"] == 60, "nobody is at a terminal"
        if end == "stop":
            task.siding("stop", "--all")
            output, _ = run.communicate(timeout=60)
            assert not output or json.loads(output)[0] == 2 or b"has ended" in output
        else:
            kill_with_broker(run.pid)
            run.wait()
    assert [each for each in task.json("inbox", "--json") if each["kind"] == "decision"] == []
    assert task.json("decide", "list", "--json") == []
    late = task.siding("decide", "answer", session, "-c", "1=run", status=None)
    assert late.returncode != 0
    told = late.stderr.decode()
    assert "nobody waits for this answer any more" in told
    assert "run r1" in told
