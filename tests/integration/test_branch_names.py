"""Branches in the way of a task's: called like the prefix, or below the task's name."""

import json
from pathlib import Path

from sandbox import Sandbox


def branch_of(sandbox: Sandbox, task: str) -> str:
    found = sandbox.json("task", "show", task, "--format", "json")["branch"]
    assert isinstance(found, str)
    return found


def test_a_branch_that_is_called_like_the_prefix(sandbox: Sandbox) -> None:
    """Tasks start all the same. What is there of earlier ones says what is in the way."""
    sandbox.siding("-q", "task", "start", "early")
    early = branch_of(sandbox, "early")
    sandbox.siding("task", "close", "early")
    sandbox.git("branch", "siding")
    said = sandbox.siding("task", "start", "late").stderr
    late = branch_of(sandbox, "late")
    assert late.startswith("siding-late-")
    assert f"the task's is '{late}'".encode() in said
    assert b"git.branch_prefix" in said
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo new >new.txt")
    sandbox.siding("-q", "apply")
    refused = sandbox.siding("task", "reopen", "early", status=1).stderr
    assert f"branch 'siding' is in the way of '{early}'".encode() in refused
    assert b"git branch -m siding NAME" in refused
    sandbox.git("branch", "-m", "siding", f"{early}/y")
    refused = sandbox.siding("task", "reopen", "early", status=1).stderr
    assert f"branch '{early}/y' is in the way".encode() in refused
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"
    sandbox.git("branch", "-m", f"{early}/y", "other")
    sandbox.siding("task", "reopen", "early")


def test_a_prefix_that_is_a_branch_or_can_begin_none(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    settings = sandbox.project / "config.yaml"
    settings.write_text("git: {branch_prefix: main/}\n")
    sandbox.siding("task", "start", "x")
    assert branch_of(sandbox, "x").startswith("main-x-")
    for prefix in ("a..b/", "x.lock/", "sp ace/", "-x/", "/"):
        settings.write_text(f"git: {{branch_prefix: {json.dumps(prefix)}}}\n")
        refused = sandbox.siding("task", "start", "y", status=2).stderr
        assert b"git.branch_prefix" in refused
        assert str(settings).encode() in refused
    names = [each["name"] for each in sandbox.json("task", "list", "--all", "--format", "json")]
    assert names == ["x"], "no task is left that nobody can begin"


def test_a_remote_with_a_branch_that_is_called_like_the_prefix(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    remote = tmp_path / "remote.git"
    sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(remote))
    sandbox.git("branch", "siding", cwd=remote)
    sandbox.git("remote", "add", "origin", str(remote))
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo new >new.txt")
    refused = sandbox.siding("pr", status=1).stderr
    assert b"siding pr --branch NAME` pushes" in refused
    assert b"git.branch_prefix" in refused
