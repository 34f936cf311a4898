"""Acts on workspaces that die half way: the next command settles them, and says so."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox import SIDING, Sandbox
from siding.record.place.project import ensure_project
from siding.record.place.wiring import open_app
from siding.record.workspaces import binding
from siding.tasks.start import start_task


def slow_git(sandbox: Sandbox, word: str, *, after: bool = False) -> Path:
    """Put a git in front of the real one that stands still at one of its commands.

    With `after` it does what it was asked for first.
    """
    real = subprocess.run(
        ["sh", "-c", "command -v git"], env=sandbox.env, capture_output=True, check=True, text=True
    ).stdout.strip()
    folder = sandbox.directory / "slow"
    folder.mkdir()
    script = folder / "git"
    first = f'{real} "$@"; ' if after else ""
    script.write_text(
        "#!/bin/sh\n"
        f'for word; do if [ "$word" = {word} ]; then\n'
        f"  {first}echo $$ > {folder}/pid; mv {folder}/pid {folder}/there; exec sleep 300\n"
        "fi; done\n"
        f'exec {real} "$@"\n'
    )
    script.chmod(0o755)
    return folder


def killed_at(sandbox: Sandbox, word: str, *arguments: str, after: bool = False) -> None:
    """Run Siding and kill all of it when it has come to a command of git, or just `after` it."""
    folder = slow_git(sandbox, word, after=after)
    env = {**sandbox.env, "PATH": f"{folder}{os.pathsep}{sandbox.env['PATH']}"}
    process = subprocess.Popen(
        [*SIDING, *arguments],
        cwd=sandbox.repo,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + 30
    while not (folder / "there").exists():
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    os.kill(int((folder / "there").read_text()), signal.SIGKILL)


def events(sandbox: Sandbox) -> list[dict[str, Any]]:
    found = sandbox.json("worktree", "events", "--limit", "100", "--format", "json")
    assert isinstance(found, list)
    return found


def test_a_start_that_was_killed_is_told_as_failed(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    killed_at(sandbox, "read-tree", "task", "start", "one")
    before = [each["event"] for each in events(sandbox)]
    assert before[-1] == "worktree.create.before"
    sandbox.siding("task", "start", "two")
    failed, *later = events(sandbox)[len(before) :]
    assert failed["event"] == "worktree.create.failed"
    assert failed["recovered"] is True
    assert "cut off" in failed["error"]
    assert later[-1]["event"] == "worktree.create.after"
    assert later[-1]["task"]["id"] != failed["task"]["id"]


def test_a_removal_that_was_killed_is_finished_and_told(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    (sandbox.workspace("one") / "kept.txt").write_text("kept")
    killed_at(sandbox, "diff-index", "task", "close", "one", "--force")
    sandbox.siding("task", "start", "two")
    done = [each for each in events(sandbox) if each["event"] == "worktree.remove.after"]
    assert [each["recovered"] for each in done] == [True]
    assert done[0]["worktree"]["status"] == "removed"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_close_that_was_killed_at_its_branch_is_finished(sandbox: Sandbox, after: bool) -> None:
    sandbox.siding("task", "start", "one")
    branch = sandbox.git("for-each-ref", "--format=%(refname:short)", "refs/heads/siding")
    assert branch.startswith("siding/one-")
    killed_at(sandbox, "update-ref", "task", "close", "one", after=after)
    sandbox.siding("task", "start", "two")
    left = sandbox.git("for-each-ref", "--format=%(refname:short)", "refs/heads/siding")
    assert left.startswith("siding/two-")
    (entry,) = [
        each
        for each in json.loads((sandbox.project / "worktrees.json").read_bytes())["worktrees"]
        if each["branch"] == branch
    ]
    assert (entry["status"], entry["branch_fate"]["deleted"]) == ("removed", True)
    assert "intent" not in entry
    sandbox.siding("worktree", "remove", "two")
    sandbox.siding("task", "reopen", "one")
    assert sandbox.git("rev-parse", branch) == sandbox.git("rev-parse", "main")
    assert sandbox.git("symbolic-ref", "--short", "HEAD", cwd=sandbox.workspace("one")) == branch


def feature_of(sandbox: Sandbox) -> str:
    """Make a branch with a commit of its own; return that."""
    sandbox.git("switch", "-qc", "feature")
    (sandbox.repo / "feature.txt").write_text("one\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "the feature")
    sandbox.git("switch", "-q", "main")
    return sandbox.git("rev-parse", "feature")


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_start_from_a_branch_that_was_killed_is_taken_back(sandbox: Sandbox, after: bool) -> None:
    feature_of(sandbox)
    killed_at(sandbox, "update-ref", "task", "start", "one", "--from", "feature", after=after)
    sandbox.siding("task", "start", "two")
    branches = sandbox.git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
    assert [name for name in branches if "/one-" in name] == []
    assert sandbox.json("task", "show", "one", "--format", "json")["status"] == "pending"
    sandbox.siding("worktree", "add", "one")
    assert not (sandbox.workspace("one") / "feature.txt").exists()
    assert sandbox.siding("diff", "-t", "one").stdout == b""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_start_from_a_task_that_was_killed_is_recorded(sandbox: Sandbox, after: bool) -> None:
    sandbox.siding("task", "start", "source")
    script = "echo 1 >f; git add f; git commit -qm f; echo 2 >g; git add g"
    sandbox.siding("run", "--", "sh", "-c", script)
    killed_at(sandbox, "update-ref", "task", "start", "one", "--from", "source", after=after)
    root = sandbox.workspace("one")
    sandbox.siding("run", "-t", "one", "--", "git", "commit", "-q", "--allow-empty", "-m", "on")
    begun, run = sandbox.steps("one")
    assert (begun["kind"], begun["origin"], begun["status"]) == (
        "checkpoint",
        "from",
        "interrupted",
    )
    assert run["status"] == "completed", "no lock of the dead command is left"
    assert sandbox.git("log", "--format=%s", "-1", cwd=root) == "on"
    assert "whole" in sandbox.siding("verify", "one").stdout.decode()
    sandbox.siding("task", "start", "two", "--from", "source")
    assert (sandbox.workspace("two") / "g").read_text() == "2\n"


def test_a_start_that_was_killed_before_the_task_knew_its_workspace(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The workspace is there; the task's document gets it, and the record agrees with both."""
    project, _made = ensure_project(open_app(env=sandbox.env, cwd=sandbox.repo))

    def killed(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(binding, "_enter", killed)
    with pytest.raises(KeyboardInterrupt):
        start_task(project, name="one", base=None)
    monkeypatch.undo()
    sandbox.siding("run", "-t", "one", "--", "touch", "made")
    assert sandbox.json("task", "show", "one", "--format", "json")["base_commit"]
    assert sandbox.json("verify", "one", "--format", "json")["whole"]
    told = [each["event"] for each in events(sandbox) if each.get("recovered")]
    assert told == ["worktree.create.after"]


def test_the_lock_of_a_git_that_was_killed_while_a_start_was_taken_back(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    killed_at(sandbox, "read-tree", "task", "start", "one")
    lock = sandbox.repo / ".git/packed-refs.lock"
    lock.touch()  # git makes it before it deletes a branch
    sandbox.siding("doctor", status=None)
    assert not lock.exists()
    assert sandbox.siding("doctor").returncode == 0
