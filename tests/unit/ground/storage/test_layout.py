"""Where everything is."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.storage.errors import UnsafeName
from siding.ground.storage.layout import (
    Home,
    ProjectLayout,
    TaskLayout,
    checked_name,
    project_dir_name,
)


def test_the_tree_is_as_documented() -> None:
    home = Home(root=Path("/h"))
    project = home.project("demo-a3f2")
    task = project.task("abc123")
    p, t = "/h/projects/demo-a3f2/", "/h/projects/demo-a3f2/tasks/abc123/"
    paths = {
        home.config_path: "/h/config.yaml",
        home.projects_dir: "/h/projects",
        project.project_json: p + "project.json",
        project.config_yaml: p + "config.yaml",
        project.state_json: p + "state.json",
        project.events_jsonl: p + "events.jsonl",
        project.worktrees_json: p + "worktrees.json",
        project.snapshots_git: p + "snapshots.git",
        project.tasks_dir: p + "tasks",
        project.workspaces_dir: p + "workspaces",
        project.workspace("abc123"): p + "workspaces/abc123",
        project.trash_dir: p + "trash",
        project.locks_dir: p + "locks",
        project.lock("git"): p + "locks/git",
        task.root: t.rstrip("/"),
        task.task_json: t + "task.json",
        task.ledger_jsonl: t + "ledger.jsonl",
        task.running_json: t + "running.json",
        task.lock: t + "lock",
        task.artifacts_dir: t + "artifacts",
        task.artifact(1, "patch"): t + "artifacts/0001.patch",
        task.artifact(12345, ".output"): t + "artifacts/12345.output",
    }
    assert {str(path) for path in paths} == set(paths.values())
    assert all(str(path) == expected for path, expected in paths.items())


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/etc", "../x", "a\0b"])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    project = ProjectLayout(root=Path("/p"))
    for act in (Home(root=Path("/h")).project, project.task, project.workspace, project.lock):
        with pytest.raises(UnsafeName):
            act(name)
    with pytest.raises(UnsafeName):
        TaskLayout(root=Path("/t")).artifact(1, name + "/..")


@given(st.text())
def test_a_checked_name_is_one_step_down(name: str) -> None:
    try:
        checked = checked_name(name)
    except UnsafeName:
        return
    assert os.path.normpath(f"/a/{checked}") == f"/a/{name}"


@pytest.mark.parametrize(
    ("root", "shown"),
    [
        (b"/home/me/my-project", "my-project"),
        (b"/home/me/my project", "my project"),
        ("/home/me/größe".encode(), "größe"),
        (b"/home/me/a\nb\x1b[2J", "a_b_[2J"),
        (b"/home/me/\xff\xfe", "__"),
        (b"/", "root"),
        (b"/home/me/" + b"n" * 255, "n" * 200),
        (b"/home/me/n" + "ß".encode() * 120, "n" + "ß" * 99),
    ],
)
def test_a_project_directory_is_named_after_the_repository_and_its_path(
    root: bytes, shown: str
) -> None:
    digest = sha256(root).hexdigest()
    path = Path(os.fsdecode(root))
    assert project_dir_name(path) == f"{shown}-{digest[:4]}"
    assert project_dir_name(path, width=12) == f"{shown}-{digest[:12]}"


@given(st.binary(min_size=1, max_size=255).filter(lambda raw: not set(raw) & {0, 47}))
def test_a_project_directory_name_is_always_a_possible_name(raw: bytes) -> None:
    name = project_dir_name(Path(os.fsdecode(b"/r/" + raw)), width=40)
    assert checked_name(name).isprintable()
    assert len(name.encode()) <= 255
