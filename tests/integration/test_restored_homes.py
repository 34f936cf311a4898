"""A home that came back from a backup, or lies on a file system that has another number now, works.

A directory that somebody put in the place of a workspace does not.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import Sandbox

COMMANDS = (
    ("diff", "-t", "x", "--stat"),
    ("apply", "-t", "x", "--dry-run"),
    ("run", "-t", "x", "--no-tty", "--", "true"),
    ("checkpoint", "-t", "x"),
    ("task", "start", "y", "--from", "x", "--no-switch"),
    ("rollback", "-t", "x", "--step", "1"),
    ("undo", "-t", "x"),
    ("task", "close", "kept", "--keep"),
    ("worktree", "remove", "x", "--force"),
    ("task", "reopen", "gone"),
)


def _worked(sandbox: Sandbox) -> None:
    """Three tasks with a step each: one to work in, one to keep, one that is closed."""
    for name in ("kept", "gone", "x"):
        sandbox.siding("-q", "task", "start", name)
        sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo work >w.txt")
        sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", "echo more >>w.txt")
    sandbox.siding("task", "close", "gone", "--force")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def home_of(sandbox: Sandbox) -> Path:
    return sandbox.directory / "siding"


def restore(directory: Path) -> None:
    """Put a copy in the place of a directory, as a backup that is brought back does."""
    copy = directory.with_name("copy")
    shutil.copytree(directory, copy, symlinks=True)
    shutil.rmtree(directory)
    copy.rename(directory)


def entry_of(sandbox: Sandbox, name: str) -> dict[str, object]:
    entries = json.loads((sandbox.project / "worktrees.json").read_text())["worktrees"]
    return next(each for each in entries if each["name"].startswith(f"{name}-"))


def test_every_command_works_in_a_home_that_was_restored(worked: Sandbox) -> None:
    before = entry_of(worked, "x")
    restore(home_of(worked))
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    for command in COMMANDS:
        worked.siding(*command)
        if command[0] == "run":  # an act writes the new numbers down
            found = os.stat(str(before["path"]))
            entry = entry_of(worked, "x")
            assert (entry["device"], entry["inode"]) == (found.st_dev, found.st_ino)
            assert before["inode"] != found.st_ino
    assert worked.siding("doctor").stdout == b"everything agrees\n"


@pytest.mark.parametrize("what", ["no link", "a repository", "the workspace of another task"])
def test_another_directory_in_its_place_is_refused(worked: Sandbox, what: str) -> None:
    """Both directions of git's link have to agree, and the doctor does not make them agree."""
    place, other = worked.workspace("x"), worked.workspace("kept")
    aside = place.with_name("aside")
    place.rename(aside)
    if what == "the workspace of another task":
        other.rename(place)
        shutil.copytree(place, other, symlinks=True)
    else:
        place.mkdir()
        (place / "theirs.txt").write_text("theirs\n")
        if what == "a repository":
            worked.git("init", "-q", str(place))
    for _ in range(2):
        for command in COMMANDS[2:]:
            if "kept" not in command and "gone" not in command:
                said = worked.siding(*command, status=1).stderr
                assert b"is not the directory that was made for this task" in said, command
        found = worked.siding("doctor", status=1).stdout
        assert b"is not the directory that was made for task" in found
        assert b"everything agrees" not in found
    assert not (aside / "theirs.txt").exists()
    shutil.rmtree(place)
    aside.rename(place)
    worked.siding("run", "-t", "x", "--no-tty", "--", "true")


def test_a_record_of_git_that_was_pruned_meanwhile_is_made_again(worked: Sandbox) -> None:
    """The home was away, and `git worktree prune` or a restored repository took git's record."""
    home = home_of(worked)
    away = home.with_name("away")
    shutil.copytree(home, away, symlinks=True)
    shutil.rmtree(home)
    worked.git("worktree", "prune")
    away.rename(home)
    assert b"made git's record of the workspace again" in worked.siding("doctor").stdout
    assert worked.siding("doctor").stdout == b"everything agrees\n"
    worked.siding("rollback", "-t", "x", "--step", "1")
    assert (worked.workspace("x") / "w.txt").read_text() == "work\n"


def test_an_adopted_worktree_that_was_copied_is_the_same_one(sandbox: Sandbox) -> None:
    place = sandbox.directory / "theirs"
    sandbox.git("worktree", "add", "-q", "-b", "theirs", str(place))
    sandbox.siding("worktree", "adopt", str(place))
    restore(place)
    sandbox.siding("run", "-t", "theirs", "--no-tty", "--", "sh", "-c", "echo more >m.txt")
    sandbox.siding("rollback", "-t", "theirs", "--base")
    sandbox.siding("undo", "-t", "theirs")
    assert (place / "m.txt").read_text() == "more\n"
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"


def test_a_home_that_was_moved_goes_on_and_a_copy_is_refused(worked: Sandbox) -> None:
    """The second of two homes that have one project may read it, and changes nothing."""
    home = home_of(worked)
    second = home.with_name("second")
    there = {"SIDING_HOME": str(second)}
    shutil.copytree(home, second, symlinks=True)
    git_dir = worked.repo / ".git"
    before = {path: path.read_bytes() for path in git_dir.rglob("*") if path.is_file()}
    for command in (*COMMANDS[2:], ("gc",), ("gc", "--older", "1s", "--yes"), ("doctor",)):
        done = worked.siding(*command, env=there, status=1)
        assert str(home).encode() in done.stdout + done.stderr, command
        assert b"is a copy of the home" in done.stdout + done.stderr, command
    assert b"is a copy of" in worked.siding("log", "-t", "x", env=there).stderr
    assert {path: path.read_bytes() for path in git_dir.rglob("*") if path.is_file()} == before
    worked.siding("run", "-t", "x", "--no-tty", "--", "true")
    assert worked.siding("doctor").stdout == b"everything agrees\n"

    home.rename(home.with_name("away"))  # the way out that the message names
    said = worked.siding("run", "-t", "x", "--no-tty", "--", "sh", "-c", "pwd", env=there)
    assert f"was at {home} before".encode() in said.stderr
    assert str(second).encode() in said.stdout
    assert worked.siding("doctor", env=there).stdout == b"everything agrees\n"
    home.with_name("away").rename(home)
    assert b"is a copy of the home" in worked.siding("undo", "-t", "x", status=1).stderr


def test_two_homes_that_were_made_apart_share_a_repository(sandbox: Sandbox) -> None:
    apart = {"SIDING_HOME": str(sandbox.directory / "apart")}
    for env in ({}, apart, {}, apart):
        sandbox.siding("run", "--no-tty", "--", "true", env=env)
        assert sandbox.siding("doctor", env=env).stdout == b"everything agrees\n"


def test_a_copy_of_an_earlier_versions_home_is_known_by_its_workspaces(worked: Sandbox) -> None:
    (worked.repo / ".git" / "siding" / "home").unlink()
    home = home_of(worked)
    second = home.with_name("second")
    there = {"SIDING_HOME": str(second)}
    shutil.copytree(home, second, symlinks=True)
    said = worked.siding("run", "-t", "x", "--no-tty", "--", "true", env=there, status=1).stderr
    assert b"is a copy of the home" in said
    shutil.rmtree(home)
    worked.siding("rollback", "-t", "x", "--base", env=there)
    assert worked.siding("doctor", env=there).stdout == b"everything agrees\n"


def test_a_branch_that_somebody_deleted_is_named_and_comes_back(worked: Sandbox) -> None:
    entry = entry_of(worked, "x")
    branch = f"refs/heads/{entry['branch']}"
    before = worked.git("rev-parse", branch)
    worked.git("update-ref", "-d", branch)
    said = worked.siding("doctor", status=1).stdout.decode()
    assert f"branch {entry['branch']!r} of task {entry['task_id']} is gone" in said
    worked.siding("rollback", "-t", "x", "--step", "2")
    assert worked.git("rev-parse", branch) == before
    assert worked.siding("doctor").stdout == b"everything agrees\n"
