"""A repository that was moved, copied or replaced finds its project, and no other one."""

import json
import os
import shutil
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import Sandbox


def _worked(sandbox: Sandbox) -> None:
    """A task with one step whose work is only in its workspace."""
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo work >w.txt")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def move(sandbox: Sandbox) -> Path:
    target = sandbox.repo.with_name("moved")
    sandbox.repo.rename(target)
    sandbox.repo = target
    return target


def of_before(sandbox: Sandbox) -> None:
    """Make the project one that was made before projects had an id."""
    path = sandbox.project / "project.json"
    document = json.loads(path.read_text())
    document.pop("id", None)
    path.write_text(json.dumps(document))
    shutil.rmtree(sandbox.repo / ".git" / "siding", ignore_errors=True)


def projects(sandbox: Sandbox) -> list[str]:
    return sorted(os.listdir(sandbox.directory / "siding" / "projects"))


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("first", [("status",), ("init",), ("run", "--no-tty", "--", "true")])
def test_the_first_command_takes_the_project_along(
    worked: Sandbox, first: tuple[str, ...], old: bool
) -> None:
    if old:
        of_before(worked)
    before = worked.repo
    move(worked)
    said = worked.siding(*first)
    assert f"was at {before} before".encode() in said.stderr
    assert len(projects(worked)) == 1
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]
    assert b"was at" not in worked.siding("run", "--no-tty", "--", "git", "status").stderr
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    worked.siding("worktree", "remove", "x", status=1)


@pytest.mark.parametrize("old", [False, True])
def test_closed_work_comes_along(worked: Sandbox, old: bool) -> None:
    worked.siding("task", "close", "x", "--force")
    if old:
        of_before(worked)
    move(worked)
    assert [each["name"] for each in worked.json("task", "list", "--all", "--format", "json")] == [
        "x"
    ]
    worked.siding("task", "reopen", "x")
    assert (worked.workspace() / "w.txt").read_text() == "work\n"


def test_a_project_without_tasks_comes_along(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    (sandbox.project / "sessions").mkdir()
    (sandbox.project / "sessions" / "something").write_text("said\n")
    move(sandbox)
    sandbox.siding("init")
    assert len(projects(sandbox)) == 1
    assert (sandbox.project / "sessions" / "something").exists()


def test_a_check_says_where_it_was_and_changes_nothing(worked: Sandbox) -> None:
    before, names = worked.repo, projects(worked)
    move(worked)
    said = worked.siding("doctor", "--check", status=1).stderr
    assert f"was at {str(before)!r}".encode() in said
    assert projects(worked) == names


def test_an_empty_project_that_was_made_beside_it_is_no_obstacle(worked: Sandbox) -> None:
    of_before(worked)
    hidden = worked.directory / "hidden"
    shelf = worked.project
    shelf.rename(hidden)
    move(worked)
    worked.siding("init")  # as an earlier version did in a moved repository
    shutil.rmtree(worked.repo / ".git" / "siding")
    newer = worked.project / "project.json"
    newer.write_text(json.dumps({**json.loads(newer.read_text()), "id": None}))
    hidden.rename(shelf)
    said = worked.siding("doctor")
    assert b"came along" in said.stderr
    assert len(projects(worked)) == 1
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]
    assert worked.siding("doctor").stdout == b"everything agrees\n"


def test_a_newer_project_in_use_is_kept_and_the_older_one_named(worked: Sandbox) -> None:
    of_before(worked)
    hidden = worked.directory / "hidden"
    shelf = worked.project
    shelf.rename(hidden)
    move(worked)
    worked.siding("-q", "task", "start", "newer")
    hidden.rename(shelf)
    newer = next(name for name in projects(worked) if name != shelf.name)
    said = worked.siding("doctor", status=1).stdout
    assert f"--adopt {shelf.name}".encode() in said
    assert b"1 task" in said
    worked.siding("doctor", "--adopt", shelf.name)
    assert worked.json("diff", "-t", "x", "--format", "json")["file_list"] == ["w.txt"]
    again = worked.siding("doctor")
    assert again.stdout == b"everything agrees\n"
    assert f"--adopt {newer}".encode() in again.stderr
    worked.siding("doctor", "--adopt", newer)
    names = [each["name"] for each in worked.json("task", "list", "--format", "json")]
    assert names == ["newer"]


def test_a_copy_gets_a_project_of_its_own(worked: Sandbox) -> None:
    copy = worked.directory / "copy"
    shutil.copytree(worked.repo, copy, symlinks=True)
    said = worked.siding("status", cwd=copy, status=3).stderr
    assert f"a copy of {str(worked.repo)!r}".encode() in said
    said = worked.siding("init", cwd=copy).stderr
    assert f"a copy of {worked.repo}".encode() in said
    assert b"copy of" not in worked.siding("init", cwd=copy).stderr
    assert worked.json("task", "list", "--format", "json", cwd=copy) == []
    assert len(projects(worked)) == 2
    # The original is where it was, and goes on.
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]


def test_a_clone_is_another_repository(worked: Sandbox) -> None:
    worked.git("clone", "-q", str(worked.repo), str(worked.directory / "clone"))
    shutil.rmtree(worked.repo)
    worked.siding("status", cwd=worked.directory / "clone", status=3)
    worked.siding("init", cwd=worked.directory / "clone")
    assert len(projects(worked)) == 2


def test_another_repository_at_the_old_path_gets_a_project_of_its_own(worked: Sandbox) -> None:
    old = worked.repo
    new = move(worked)
    worked.repo = old
    old.mkdir()
    worked.git("init", "-q", "-b", "main")
    worked.git("commit", "-q", "--allow-empty", "-m", "other")
    worked.siding("status", status=3)
    worked.siding("init")
    assert worked.json("task", "list", "--format", "json") == []
    assert worked.json("diff", "--format", "json", cwd=new)["file_list"] == ["w.txt"]
    assert worked.json("task", "list", "--format", "json") == []
    assert len(projects(worked)) == 2


def test_a_repository_cloned_again_in_its_place_keeps_its_project(worked: Sandbox) -> None:
    bare = worked.directory / "origin.git"
    worked.git("clone", "-q", "--bare", str(worked.repo), str(bare))
    shutil.rmtree(worked.repo)
    worked.git("clone", "-q", str(bare), str(worked.repo), cwd=worked.directory)
    assert [each["name"] for each in worked.json("task", "list", "--format", "json")] == ["x"]
    worked.siding("init")
    assert len(projects(worked)) == 1


def test_a_killed_move_is_finished_by_the_next_command(worked: Sandbox) -> None:
    """The document names the new path; the directory's name and the links are as before."""
    move(worked)
    path = worked.project / "project.json"
    document = {**json.loads(path.read_text()), "repo_root": str(worked.repo), "moving": True}
    path.write_text(json.dumps(document))
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]
    assert worked.project.name.startswith("moved-")
    assert worked.siding("doctor").stdout == b"everything agrees\n"


def test_a_git_directory_that_cannot_be_written_to(worked: Sandbox) -> None:
    of_before(worked)
    (worked.repo / ".git" / "siding").write_text("in the way\n")
    worked.siding("init")
    assert "id" not in json.loads((worked.project / "project.json").read_text())
    move(worked)
    assert worked.json("diff", "--format", "json")["file_list"] == ["w.txt"]


def test_nothing_of_the_checkout_changes_for_the_id(sandbox: Sandbox) -> None:
    config = (sandbox.repo / ".git" / "config").read_bytes()
    sandbox.siding("init")
    assert sandbox.git("status", "--porcelain", "--ignored") == ""
    assert (sandbox.repo / ".git" / "config").read_bytes() == config
    assert len((sandbox.repo / ".git" / "siding" / "id").read_text()) == 33


@pytest.mark.parametrize("kind", ["bare", "submodule", "linked"])
def test_repositories_of_other_shapes(sandbox: Sandbox, kind: str) -> None:
    place = sandbox.directory / "place"
    inner = place
    if kind == "bare":
        sandbox.git("clone", "-q", "--bare", str(sandbox.repo), str(place))
    elif kind == "submodule":
        sandbox.git("clone", "-q", str(sandbox.repo), str(place))
        sandbox.git(
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "-q",
            "add",
            str(sandbox.repo),
            "sub",
            cwd=place,
        )
        inner = place / "sub"
    else:
        place = inner = sandbox.repo
        sandbox.git("worktree", "add", "-q", str(sandbox.directory / "linked"))
    sandbox.siding("-q", "task", "start", "x", cwd=inner)
    sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo 1 >w.txt", cwd=inner)
    target = sandbox.directory / "target"
    place.rename(target)
    inner = target / inner.relative_to(place)
    if kind == "linked":
        sandbox.git("worktree", "repair", str(sandbox.directory / "linked"), cwd=target)
        inner = sandbox.directory / "linked"
    assert sandbox.json("diff", "--format", "json", cwd=inner)["file_list"] == ["w.txt"]
    assert len(projects(sandbox)) == 1
