"""Back and forth beside a sandboxed run that lives: its own git directory goes along.

The run is a small program that does in its sandbox what it is told over a pipe, and prints what git
says there.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import Sandbox

PROGRAM = """
exec 3<>"$1/orders"
while read -r number order <&3; do
    eval "$order" >"$1/said" 2>&1
    mv "$1/said" "$1/$number"
done
"""
LOG = "git log --format=%s"


class Agent:
    """A sandboxed run that lives, and does what it is told."""

    def __init__(self, task: Sandbox, directory: Path, *, name: str, options: list[str]) -> None:
        self._place = directory / name
        self._place.mkdir()
        os.mkfifo(self._place / "orders")
        self._count = 0
        words = ["run", "--detach", "--name", name, "--sandbox", *options]
        words += ["--write", str(self._place), "--", "sh", "-c", PROGRAM, "sh", str(self._place)]
        task.siding(*words)
        self.said = task.siding("runs").stdout

    def does(self, order: str) -> str:
        self._count += 1
        fd = os.open(self._place / "orders", os.O_WRONLY)
        os.write(fd, f"{self._count} {order}\n".encode())
        os.close(fd)
        end = time.monotonic() + 60
        while not (answer := self._place / str(self._count)).exists():
            assert time.monotonic() < end, order
            time.sleep(0.005)
        return answer.read_text()

    def log(self) -> list[str]:
        return self.does(LOG).split()

    def commits(self, name: str) -> None:
        said = self.does(f"echo {name} >{name} && git add -A && git commit -qm {name} && echo done")
        assert said == "done\n"


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "guarded")
    return sandbox


def log(task: Sandbox) -> list[str]:
    return task.git("log", "--format=%s", cwd=task.workspace()).split()


def end(task: Sandbox) -> str:
    """End all runs; return what is said of the last step."""
    task.siding("stop", "--all")
    task.git("fsck", "--strict", cwd=task.workspace())
    task.siding("verify")
    return task.siding("show", "last").stdout.decode()


@needs_bwrap
def test_what_the_agent_sees_goes_back_and_its_next_commit_stands_on_that(
    task: Sandbox, tmp_path: Path
) -> None:
    agent = Agent(task, tmp_path, name="agent", options=[])
    agent.commits("one")
    task.siding("checkpoint", "--run", "r1")
    assert log(task)[0] == "one", "a recorded state has the commits made until then"
    agent.commits("two")
    agent.does("echo 3 >three; git add three; echo 4 >>three")
    task.siding("checkpoint", "--run", "r1")
    status = agent.does("git status --porcelain")
    assert status == "AM three\n"

    done = task.siding("undo")
    assert b"was paused and goes on" in done.stderr
    assert agent.log()[:1] == ["one"]
    assert agent.does("git status --porcelain; git fsck 2>&1 | grep -v dangling") == ""
    assert agent.does("git rev-parse --abbrev-ref HEAD") == f"{branch_of(task)}\n"
    task.siding("redo")
    assert agent.log()[:2] == ["two", "one"]
    assert agent.does("git status --porcelain; git diff three | tail -1") == "AM three\n+4\n"
    task.siding("undo")
    agent.commits("other")
    assert agent.log()[:2] == ["other", "one"]
    task.siding("rollback", "--base")
    assert agent.log() == log(task)
    assert "one" not in agent.log()
    task.siding("undo")
    assert agent.log()[:2] == ["other", "one"]
    agent.commits("last")
    shown = end(task)
    assert log(task)[:3] == ["last", "other", "one"]
    assert task.git("status", "--porcelain", cwd=task.workspace()) == ""
    assert "meanwhile" not in shown


def branch_of(task: Sandbox) -> str:
    return task.git("rev-parse", "--abbrev-ref", "HEAD", cwd=task.workspace()).strip()


@needs_bwrap
def test_a_rebase_under_way_goes_along_and_comes_back(task: Sandbox, tmp_path: Path) -> None:
    agent = Agent(task, tmp_path, name="agent", options=[])
    agent.commits("one")
    agent.does("git switch -qc side HEAD~; echo x >one; git add one; git commit -qm side")
    agent.does("git switch -q -")
    task.siding("checkpoint", "--run", "r1")
    assert "CONFLICT" in agent.does("git rebase side")
    task.siding("checkpoint", "--run", "r1")
    agent.does("echo solved >one; git add one; GIT_EDITOR=true git rebase --continue")
    task.siding("checkpoint", "--run", "r1")
    solved = agent.log()
    assert solved[:2] == ["one", "side"]

    task.siding("undo")
    assert "rebase in progress" in agent.does("git status")
    assert agent.does("git ls-files -u | wc -l").strip() == "2"
    git_dir = Path(task.git("rev-parse", "--absolute-git-dir", cwd=task.workspace()).strip())
    assert not (git_dir / "rebase-merge").exists(), "nothing that runs outside"
    task.siding("undo")
    assert agent.does("git status --porcelain") == ""
    assert branch_of(task) != "HEAD"
    assert agent.does("git rev-parse --abbrev-ref HEAD") == f"{branch_of(task)}\n"
    task.siding("redo")
    agent.does("echo again >one; git add one; GIT_EDITOR=true git rebase --continue")
    assert agent.log() == solved
    assert agent.does("cat one") == "again\n"
    end(task)
    assert log(task) == solved


@needs_bwrap
@pytest.mark.parametrize("moment", ["branch", "index"])
def test_the_act_that_is_killed_leaves_one_state_inside_and_outside(
    task: Sandbox, tmp_path: Path, moment: str
) -> None:
    agent = Agent(task, tmp_path, name="agent", options=[])
    agent.commits("one")
    task.siding("checkpoint", "--run", "r1")
    agent.commits("two")
    task.siding("checkpoint", "--run", "r1")
    script = KILLED.format(where=MOMENTS[moment])
    undo = [sys.executable, "-c", script, "undo"]
    killed = subprocess.run(undo, cwd=task.repo, env=task.env, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    task.siding("status")
    task.siding("checkpoint", "-m", "after the kill")
    assert agent.log() == log(task)
    status = "git status --porcelain; git ls-files -s"
    assert agent.does(status) == agent_status(task, status)
    task.siding("undo", "--force")
    assert agent.log() == log(task)
    agent.commits("last")
    end(task)
    assert log(task)[0] == "last"
    assert task.git("branch", "--list", "*beside*", cwd=task.workspace()) == ""


KILLED = """
import os, signal
from siding.record.quarantine import living
from siding.record.restoring import git_restore
from siding.record.moving import checkout
def die(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)
{where}
from siding.faces.cli.main import main
main()
"""
MOMENTS = {
    "branch": "git_restore._set_index = die",
    "index": "living._bring_git_dir = die",
}


def agent_status(task: Sandbox, order: str) -> str:
    done = subprocess.run(
        ["sh", "-c", order], cwd=task.workspace(), env=task.env, capture_output=True, check=True
    )
    return done.stdout.decode()


@needs_bwrap
def test_what_could_not_be_brought_back_is_named_and_nothing_goes(
    task: Sandbox, tmp_path: Path
) -> None:
    agent = Agent(task, tmp_path, name="agent", options=[])
    agent.commits("one")
    task.siding("checkpoint", "--run", "r1")
    agent.does("git checkout -q --ignore-other-worktrees main")
    agent.does("echo 2 >two")
    task.siding("checkpoint", "--run", "r1")
    done = task.siding("undo", status=1)
    assert b"none of this task's" in done.stderr
    assert b"refs/heads/main" in done.stderr
    assert b"`siding rollback --step N --files`" in done.stderr
    assert (task.workspace() / "two").exists()
    task.siding("rollback", "--base", "--files")
    assert agent.does("git rev-parse --abbrev-ref HEAD") == "main\n"
    agent.does("git switch -qf -")
    task.siding("rollback", "--step", "1")
    assert agent.log() == log(task)
    assert agent.log()[0] == "one"
    task.siding("stop", "--all")


@needs_bwrap
def test_a_second_run_and_one_with_landlock_see_the_same(task: Sandbox, tmp_path: Path) -> None:
    first = Agent(task, tmp_path, name="first", options=[])
    readers = [Agent(task, tmp_path, name="second", options=[])]
    if landlock_version():
        task.env |= without_bwrap(tmp_path, task.env["PATH"])
        readers.append(Agent(task, tmp_path, name="third", options=[]))
    first.commits("one")
    task.siding("checkpoint", "--run", "r1")
    first.commits("two")
    task.siding("checkpoint", "--run", "r1")
    for act, top in (["undo"], "one"), (["redo"], "two"), (["rollback", "--step", "1"], "one"):
        task.siding(*act)
        assert [each.log()[0] for each in (first, *readers)] == [top] * (1 + len(readers))
    task.git("commit", "-qm", "upstream", "--allow-empty")
    task.siding("sync")
    assert first.log() == log(task)
    assert "upstream" in first.log()
    task.siding("retry", "1", "--", "true")
    assert first.log() == log(task) == ["first"]
    first.commits("last")
    end(task)
    assert log(task) == ["last", "first"]
