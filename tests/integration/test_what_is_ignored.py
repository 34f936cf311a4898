"""What is left out of snapshots: patterns of the person, which may change while a task lives."""

import pytest

from sandbox import Sandbox


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "demo")
    return sandbox


def changed(sandbox: Sandbox) -> list[str]:
    """Return the paths that the newest step has recorded."""
    return list(sandbox.steps()[-1]["diff_stat"]["file_list"])


def test_a_pattern_in_the_repository_counts_from_now_on(task: Sandbox) -> None:
    workspace = task.workspace()
    (workspace / "one.key").write_text("1")
    task.siding("checkpoint")
    exclude = task.repo / ".git" / "info" / "exclude"
    exclude.write_text("*.key\n")
    (workspace / "two.key").write_text("2")
    assert task.json("status", "--format", "json")["unrecorded_files"] == 0
    (workspace / "one.key").write_text("recorded before, so still")
    task.siding("checkpoint")
    assert changed(task) == ["one.key"]
    assert "two.key" not in task.siding("diff").stdout.decode()
    exclude.write_text("")
    task.siding("checkpoint")
    assert changed(task) == ["two.key"]


def test_so_does_one_in_the_persons_own_file(task: Sandbox) -> None:
    ignore = task.directory / "home" / ".config" / "git" / "ignore"
    assert task.env["HOME"] == str(ignore.parents[2])
    ignore.parent.mkdir(parents=True, exist_ok=True)
    ignore.write_text("*.swp\n")
    workspace = task.workspace()
    (workspace / "a.swp").write_text("1")
    (workspace / "b.txt").write_text("1")
    task.siding("checkpoint")
    assert changed(task) == ["b.txt"]


def test_what_is_recorded_all_the_same_can_be_set_for_all_projects(task: Sandbox) -> None:
    (task.directory / "siding" / "config.yaml").write_text("snapshot: {ignored: [.env]}\n")
    (task.workspace() / ".gitignore").write_text(".env\n*.log\n")
    (task.workspace() / ".env").write_text("1")
    (task.workspace() / "a.log").write_text("1")
    task.siding("checkpoint")
    assert changed(task) == [".env", ".gitignore"]
