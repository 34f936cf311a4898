"""Traps that no snapshot has: ignored files and repositories in the workspace."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, Sandbox
from siding.forks.forks import fork
from siding.forks.state import recorded
from siding.record.place.project import require_project
from siding.record.place.selection import select
from siding.record.place.wiring import open_app

pytestmark = needs_bwrap
IGNORED = "node_modules\n.envrc\n.venv\n.idea\nlinks\n*.code-workspace\n"
INSTALLED = "mkdir -p node_modules/.bin node_modules/a; ln -s ../a/x node_modules/.bin/a"


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    (sandbox.repo / ".gitignore").write_text(IGNORED)
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "ignore")
    sandbox.siding("task", "start", "demo")
    return sandbox


def confined(sandbox: Sandbox, script: str) -> dict[str, str]:
    """Run a script in a sandbox; return the traps of its step."""
    sandbox.siding("-q", "run", "--sandbox", "--", "sh", "-c", script)
    return traps_of(sandbox.steps()[-1])


def traps_of(step: dict[str, Any]) -> dict[str, str]:
    return {each["path"]: each["how"] for each in step.get("traps", [])}


def held(sandbox: Sandbox) -> str:
    """Return what a run without a sandbox is told that is held."""
    done = sandbox.siding("run", "--", "touch", "ran", status=5)
    assert not (sandbox.workspace() / "ran").exists()
    return done.stderr.decode()


def document(sandbox: Sandbox) -> Path:
    (found,) = sandbox.project.glob("tasks/*/traps.json")
    return found


def test_what_a_sandboxed_run_leaves_in_ignored_places_is_listed_and_held(task: Sandbox) -> None:
    left = confined(
        task,
        f"{INSTALLED}; echo x >.envrc; mkdir -p .venv/bin .venv/lib; echo x >.venv/bin/activate; "
        "echo x >.venv/lib/x.py; mkdir -p packages/b; cd packages/b; "
        "mkdir -p node_modules/.bin; echo x >node_modules/.bin/b; echo x >b.code-workspace",
    )
    wanted = [
        ".envrc",
        ".venv/bin/",
        "node_modules/.bin/",
        "packages/b/b.code-workspace",
        "packages/b/node_modules/.bin/",
    ]
    assert left == dict.fromkeys(wanted, "made")
    said = held(task)
    assert ".envrc, .venv/bin/, node_modules/.bin/" in said
    shows = task.siding("trust", "-t", "demo", "--show")
    assert shows.stdout.count(b"not seen yet") == 5
    assert b"siding diff" not in shows.stderr
    assert b"siding cd demo" in shows.stderr
    task.siding("trust", "-t", "demo")
    task.siding("run", "--", "true")
    assert json.loads(document(task).read_bytes())["left"] == []


def test_an_apply_carries_none_of_them_and_is_not_held(task: Sandbox) -> None:
    confined(task, f"{INSTALLED}; echo ok >ok.txt")
    task.siding("apply")


def test_each_change_is_listed_once_and_held_by_its_content(task: Sandbox) -> None:
    assert confined(task, INSTALLED) == {"node_modules/.bin/": "made"}
    assert confined(task, "cat node_modules/.bin/a; touch x") == {}
    task.siding("trust", "-t", "demo")
    assert confined(task, "rm node_modules/.bin/a") == {}  # an empty directory runs nothing
    assert confined(task, INSTALLED) == {"node_modules/.bin/": "made"}
    task.siding("run", "--", "true")  # the same content was seen
    assert confined(task, "ln -sf ../../evil node_modules/.bin/a") == {
        "node_modules/.bin/": "changed"
    }
    held(task)


def test_what_was_there_before_and_what_others_do_is_not_held(task: Sandbox) -> None:
    """A person's installation, their editor, a run of theirs."""
    workspace = task.workspace()
    task.siding("run", "--", "sh", "-c", INSTALLED)
    (workspace / ".envrc").write_text("mine\n")
    assert confined(task, "touch x") == {}
    (workspace / ".idea").mkdir()
    (workspace / ".idea/workspace.xml").write_text("<x/>")
    (workspace / ".envrc").write_text("mine, other\n")
    task.siding("run", "--", "sh", "-c", "echo more >node_modules/.bin/b")
    task.siding("run", "--", "true")
    assert confined(task, "echo evil >.envrc") == {".envrc": "changed"}
    assert ".envrc was left" in held(task)


def test_repositories_below_and_links_that_lead_out(task: Sandbox) -> None:
    left = confined(
        task,
        "git init -q sub; ln -s /etc links; "
        "mkdir node_modules; ln -s ../../.. node_modules/.bin; echo x >sub/a",
    )
    assert left == {"links": "made", "sub/.git/config": "made", "sub/.git/hooks/": "made"}
    task.siding("trust", "-t", "demo")
    changed = confined(
        task, "cd sub; git config core.fsmonitor evil; echo x >.git/hooks/post-commit"
    )
    assert changed == {"sub/.git/config": "changed", "sub/.git/hooks/": "changed"}


def test_a_run_without_a_step_and_one_that_was_killed(task: Sandbox) -> None:
    task.siding("run", "--no-record", "--sandbox", "--", "sh", "-c", INSTALLED)
    assert "node_modules/.bin/" in held(task)
    task.siding("trust", "-t", "demo")
    ready = task.workspace() / "ready"
    script = "echo x >.envrc; touch ready; sleep 60"
    child = subprocess.Popen(
        [*SIDING, "run", "--sandbox", "--", "sh", "-c", script],
        cwd=task.repo,
        env=task.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not ready.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert ".envrc was left" in held(task)
    assert traps_of(task.steps()[-2]) == {".envrc": "made"}


def test_a_damaged_note_holds_what_is_there_and_stops_no_recording(task: Sandbox) -> None:
    confined(task, INSTALLED)
    task.siding("trust", "-t", "demo")
    (task.workspace() / ".envrc").write_text("whose?\n")
    document(task).write_bytes(b"{")
    assert ".envrc was left" in held(task)
    task.siding("trust", "-t", "demo")
    task.siding("run", "--", "true")


def test_of_some_files_only_the_part_that_runs_counts(task: Sandbox) -> None:
    (task.repo / ".git/info/exclude").write_text("package.json\n")
    assert confined(task, """echo '{"name": "a"}' >package.json""") == {}
    left = confined(task, """echo '{"scripts": {"test": "evil"}}' >package.json""")
    assert left == {"package.json": "made"}


def told(sandbox: Sandbox, name: str) -> str:
    """Return what a run without a sandbox in this task is told that is held."""
    return sandbox.siding("run", "-t", name, "--", "true", status=5).stderr.decode()


def test_they_follow_the_workspace_to_another_task(task: Sandbox) -> None:
    confined(task, INSTALLED)
    task.siding("task", "start", "next", "--no-workspace", "--no-switch")
    task.siding("worktree", "bind", "next", "--worktree", "demo")
    assert "node_modules/.bin/ was left" in told(task, "next")
    task.siding("trust", "-t", "next")
    task.siding("run", "-t", "next", "--", "true")


def test_they_follow_warm_directories_into_a_fork(task: Sandbox) -> None:
    (task.project / "config.yaml").write_text("forks: {warm: [node_modules]}\n")
    confined(task, INSTALLED)
    project = require_project(open_app(env=task.env, cwd=task.repo))
    made = fork(project, recorded(project, select(project, "demo")))
    made.close()
    assert (made.path / "node_modules/.bin/a").is_symlink()
    assert "node_modules/.bin/ was left" in told(task, made.id)
