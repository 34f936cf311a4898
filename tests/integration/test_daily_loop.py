"""The day counted: run 1, look 1, retry 1, apply 1, clean 0, enter 1, and what each leaves."""

import os
import subprocess
from typing import Any

from sandbox import Sandbox

AGENT = ("claude", "-p", "fix the parser")
STUB = """#!/bin/sh
echo "attempt $$" >>parser.txt
"""


def test_a_task_from_its_first_run_to_the_main_line_is_four_commands(sandbox: Sandbox) -> None:
    programs = sandbox.directory / "programs"
    programs.mkdir()
    (programs / "claude").write_text(STUB)
    (programs / "claude").chmod(0o755)
    sandbox.env["PATH"] = f"{programs}:{sandbox.env['PATH']}"
    before = everything_of(sandbox)
    commands = 0

    def types(*words: str) -> str:
        nonlocal commands
        commands += 1
        done = sandbox.siding(*words)
        return (done.stdout + done.stderr).decode()

    # Run: task, workspace and step are made by it.
    assert "step 0001 · exit 0 · 1 file +1 -0" in types("run", "--no-reports", "--", *AGENT)
    assert everything_of(sandbox)["files"] == before["files"]
    # Look.
    first = types("diff")
    assert "+attempt " in first
    # Retry: the first attempt is not below the second.
    types("retry")
    workspace = str(sandbox.workspace())
    assert open_lines(workspace) == 1
    # Apply.
    said = types("apply")
    assert "1 commit on main" in said
    assert "closed task" in said
    assert commands == 4
    assert sandbox.git("log", "-1", "--format=%s", "main") == "fix the parser"

    # Clean: nothing is left to do. The branch and the worktree are gone, and the board is empty.
    after = everything_of(sandbox)
    assert after["files"] == before["files"] | {"parser.txt"}
    assert (after["branches"], after["worktrees"]) == (before["branches"], before["worktrees"])
    assert before["worktrees"] == 1
    assert after["status"] == before["status"] == ""
    assert not os.path.exists(workspace)
    assert sandbox.json("task", "list", "--format", "json") == []
    assert sandbox.json("inbox", "--json") == []
    # The next run begins the next task, without a word about the one before.
    types("run", "--no-reports", "--", "claude", "-p", "and the lexer")
    (row,) = sandbox.json("task", "list", "--format", "json")
    assert row["name"] == "claude: and the lexer"


def test_a_workspace_is_entered_with_one_command(sandbox: Sandbox) -> None:
    """The function of the shell is set up once, in its start-up file."""
    sandbox.siding("task", "start", "fix the parser")
    script = 'eval "$(siding shell-init bash)"; siding cd parser; pwd'
    entered = subprocess.run(
        ["bash", "-c", script],
        cwd=sandbox.repo,
        env=sandbox.env,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert entered.stdout.decode() == f"{sandbox.workspace()}\n"


def open_lines(workspace: str) -> int:
    with open(os.path.join(workspace, "parser.txt"), encoding="utf-8") as file:
        return len(file.readlines())


def everything_of(sandbox: Sandbox) -> dict[str, Any]:
    return {
        "files": set(os.listdir(sandbox.repo)),
        "branches": sandbox.git("branch", "--format=%(refname)"),
        "worktrees": sandbox.git("worktree", "list", "--porcelain").count("worktree "),
        "status": sandbox.git("status", "--porcelain"),
    }
