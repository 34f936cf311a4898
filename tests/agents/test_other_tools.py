"""Under `--judge require` every tool of a real client is judged, not its shell and files alone."""

import json

from agents.conftest import ClaudeAtWork, agent_named
from agents.models import Call
from agents.test_conformance import judge
from sandbox import Sandbox

REQUIRED = ["--judge", "require", "--ask", "deny"]


def test_claude_makes_no_worktree_outside_and_no_schedule(claude: ClaudeAtWork) -> None:
    judge(claude.task)
    model = claude.says(
        [Call("EnterWorktree", {"name": "zz"})],
        [Call("CronCreate", {"cron": "* * * * *", "prompt": "x", "durable": True})],
        [Call("Skill", {"skill": "none"})],
        [claude.shell("echo one >1.txt")],
        ["Done."],
    )
    claude.prompt("Do it", options=REQUIRED)
    assert claude.task.git("branch", "--list", "worktree-zz") == ""
    for root in (claude.task.repo, claude.task.workspace()):
        assert not (root / ".claude").exists()
    assert (claude.task.workspace() / "1.txt").exists()
    told = json.dumps(model.requests[-1])
    assert told.count("nobody is asked in this run") == 2
    assert (claude.run["reported"]["judged"], claude.run["reported"]["blocked"]) == (3, 2)


def test_codex_types_into_no_program(sandbox: Sandbox) -> None:
    """It starts no hook for its tool that types, so a command has no terminal to type into."""
    with agent_named(sandbox, "codex") as codex:
        judge(codex.task)
        started = {"cmd": "vi hello.txt", "tty": True, "yield_time_ms": 500}
        model = codex.says([Call("exec_command", started)], ["Done."])
        codex.prompt("Do it", options=REQUIRED)
        assert "TTY execution is disabled" in json.dumps(model.requests[-1])
        words = codex.words("Do it")
        words[2:2] = ["--enable", "unified_exec_tty"]
        done = codex.task.siding("run", *REQUIRED, "--", *words, status=2)
        assert "what it types into a terminal is not reported" in done.stderr.decode()
