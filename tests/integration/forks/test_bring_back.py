"""The change of a fork comes back onto its task as one step, or nothing changes at all."""

import json
import os
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from prepared import prepared
from siding.forks.bring_back import BroughtBack, ForkConflict, bring_back
from siding.forks.forks import Fork
from siding.record.recording.verify import verify

from .bench import contents, git, made, state


@pytest.fixture
def desk() -> Desk:
    return Desk.at(prepared(Desk))


def brought(desk: Desk, found: Fork) -> BroughtBack | ForkConflict:
    return bring_back(desk.project, desk.project.tasks.load(found.id))


def test_every_kind_of_change_comes_back(desk: Desk) -> None:
    desk.run("sh", "-c", "seq 9 >lines; echo x >gone; echo y >old; echo t >turns; ln -s a link")
    desk.write("own", "uncommitted, of the task\n")
    found = made(desk, state(desk))
    root = found.path
    lines = (root / "lines").read_text()
    (root / "lines").write_text(lines.replace("1\n", "one\n"))
    desk.write("lines", lines.replace("9\n", "nine\n"))
    (root / "gone").unlink()
    (root / "old").rename(root / "new name")
    (root / "bytes").write_bytes(bytes(range(256)) * 3)
    (root / "link").unlink()
    (root / "link").symlink_to("elsewhere")
    (root / "turns").unlink()
    (root / "turns").mkdir(mode=0o750)
    (root / "turns/in").write_text("in\n")
    (root / "hello.txt").chmod(0o600)
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "empty").mkdir()
    git(desk, root, "add", "tool")
    desk.git("add", "own")
    said = [desk.git("rev-parse", "HEAD"), desk.git("diff", "--cached", "--stat")]
    wanted = contents(root)
    wanted[b"lines"] = ("file 644", b"one\n2\n3\n4\n5\n6\n7\n8\nnine\n")
    before = contents(desk.root)
    done = brought(desk, found)
    assert isinstance(done, BroughtBack)
    assert done.step is not None
    assert contents(desk.root) == wanted
    assert [desk.git("rev-parse", "HEAD"), desk.git("diff", "--cached", "--stat")] == said
    assert (done.left, done.missed) == ((), ())
    assert not [each for each in verify(desk.project, desk.task.id).findings if each.serious]
    assert brought(desk, found) == BroughtBack(None)  # there is nothing new
    desk.undo()
    assert contents(desk.root) == before
    again = brought(desk, found)  # the task does not have it any more
    assert isinstance(again, BroughtBack)
    assert again.step is not None
    assert contents(desk.root) == wanted


def test_only_what_is_new_comes_the_second_time(desk: Desk) -> None:
    found = made(desk, state(desk))
    (found.path / "one").write_text("1\n")
    brought(desk, found)
    (desk.root / "one").write_text("changed by the task\n")
    (found.path / "two").write_text("2\n")
    done = brought(desk, found)
    assert isinstance(done, BroughtBack)
    assert (desk.root / "one").read_text() == "changed by the task\n"
    assert (desk.root / "two").read_text() == "2\n"


@pytest.mark.parametrize(
    "theirs",
    ["echo other >hello.txt", "rm hello.txt", "rm hello.txt; mkdir hello.txt; echo 1 >hello.txt/x"],
)
def test_a_conflict_is_a_value_and_changes_nothing(desk: Desk, theirs: str) -> None:
    found = made(desk, state(desk))
    (found.path / "hello.txt").write_text("mine\n")
    (found.path / "fine").write_text("would come\n")
    os.system(f"cd {desk.root} && {theirs}")
    desk.checkpoint()
    before, steps = contents(desk.root), len(desk.steps())
    done = brought(desk, found)
    assert isinstance(done, ForkConflict)
    assert done.paths[0].name.startswith("hello.txt")
    assert contents(desk.root) == before
    assert len(desk.steps()) == steps
    said = desk.sandbox.siding("task", "bring-back", found.id, status=1).stderr.decode()
    assert "hello.txt" in said


def test_what_a_writer_held_open_is_kept_and_named(desk: Desk) -> None:
    found = made(desk, state(desk))
    (found.path / "hello.txt").write_text("of the fork\n")
    with open(desk.root / "hello.txt", "a", encoding="utf-8") as held:
        done = brought(desk, found)
        held.write("of the writer\n")
    assert isinstance(done, BroughtBack)
    assert [Path(each).read_text().splitlines()[-1] for each in done.kept] == ["of the writer"]
    (found.path / "hello.txt").write_text("of the fork again\n")
    with open(desk.root / "hello.txt", "a", encoding="utf-8") as held:
        said = desk.sandbox.siding("task", "bring-back", found.id, "--format", "json").stdout
        held.write("once more\n")
    assert [Path(each).read_text() for each in json.loads(said)["kept"]] == [
        "of the fork\nonce more\n"
    ]


def test_the_commit_of_a_submodule_is_left_and_named(desk: Desk) -> None:
    head = desk.git("rev-parse", "HEAD")
    desk.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    (desk.root / "sub").mkdir()
    desk.git("commit", "-qm", "a link")
    found = made(desk, state(desk))
    assert git(desk, found.path, "status", "--porcelain") == ""
    (found.path / "beside").write_text("x")
    done = brought(desk, found)
    assert isinstance(done, BroughtBack)
    assert (desk.root / "beside").exists()
    assert (desk.root / "sub").is_dir()


def test_a_run_that_lives_is_paused_and_goes_on(desk: Desk) -> None:
    ready, go_on = desk.sandbox.directory / "ready", desk.sandbox.directory / "go"
    script = f"touch {ready}; while [ ! -e {go_on} ]; do sleep 0.05; done; cat one >two"
    desk.sandbox.siding("run", "--detach", "--", "sh", "-c", script)
    while not ready.exists():
        pass
    found = made(desk, state(desk))
    (found.path / "one").write_text("1\n")
    done = brought(desk, found)
    assert isinstance(done, BroughtBack)
    go_on.touch()
    desk.sandbox.siding("runs", "--wait", status=None)
    while "run" not in [step.kind for step in desk.steps()]:
        pass
    assert Path(desk.root / "two").read_text() == "1\n"


def test_an_apply_of_the_task_has_what_came_back(desk: Desk) -> None:
    found = made(desk, state(desk))
    (found.path / "one").write_text("1\n")
    brought(desk, found)
    desk.sandbox.siding("apply", "-t", desk.task.id, "-m", "all of it")
    assert (desk.sandbox.repo / "one").read_text() == "1\n"


def test_it_says_where_a_file_is_that_a_program_has_open(desk: Desk) -> None:
    found = made(desk, state(desk))
    (found.path / "hello.txt").write_text("of the fork\n")
    with open(desk.root / "hello.txt", "a") as open_file:
        done = desk.sandbox.siding("-q", "task", "bring-back", found.id)
        open_file.write("later\n")
    _, _, place = done.stderr.decode().partition("by another program: kept as ")
    assert Path(place.rstrip()).read_text() == "hello\nlater\n"
    assert desk.read("hello.txt") == b"of the fork\n"
