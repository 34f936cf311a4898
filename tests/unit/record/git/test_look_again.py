"""Git's look at a workspace, after it has passed over something that is there."""

import os
import subprocess
from typing import Any

import pytest

from siding.ground.git.command import Git, Place
from siding.ground.git.errors import CommandFailed
from siding.ground.process.capture import Completed, Running
from siding.record.snapshots.coverage import Reason, Skipped
from siding.record.snapshots.status_look import STATUS, changed_count, looked

from .test_peek import request, seen
from .world import World, write


def done(returncode: int, stdout: bytes, stderr: bytes = b"") -> Completed:
    return Completed(("git", "status"), returncode, stdout, stderr)


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (done(0, b"first"), False),
        (done(0, b"first", b"warning: could not open directory 'x/': EIO\n"), True),
        (done(0, b"first", b"hint: core.fsmonitor=true is deprecated\n"), False),
        (done(0, b"first", b"x is deprecated\nwarning: y\n"), True),
    ],
)
def test_after_a_warning_git_looks_once_more(
    world: World, monkeypatch: pytest.MonkeyPatch, first: Completed, *, again: bool
) -> None:
    asked: list[Any] = []

    def attempt(_git: Git, *words: Any) -> Completed:
        asked.append(words)
        return done(0, b"second", b"warning: still\n")

    monkeypatch.setattr(Git, "attempt", attempt)
    place = Place(git_dir=world.root / ".git")
    assert looked(world.git, place, ["status"], first) == (b"second" if again else b"first")
    assert asked == ([(place, ["status"])] if again else [])


def test_a_look_that_fails_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(git_dir=world.root / ".git")
    failed = done(128, b"", b"fatal: broken\n")
    monkeypatch.setattr(Git, "attempt", lambda *_: failed)
    for first in (failed, done(0, b"", b"warning: x\n")):
        with pytest.raises(CommandFailed, match="looking for changes"):
            looked(world.git, place, ["status"], first)
    monkeypatch.setattr(Git, "attempt", lambda *_: done(0, b"second"))
    warned = failed._replace(stderr=b"warning: x\n")
    with pytest.raises(CommandFailed, match="looking for changes"):
        looked(world.git, place, ["status"], warned)


class Forgetful:
    """A git that does not name the new files of a directory, the first `times` that it is asked.

    It does so when reading the directory fails half-way, and says nothing.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: bytes, times: int) -> None:
        self.directory, self.times, self.asked = directory, times, 0
        finish = Running.finish

        def forgetting(running: Running, **more: Any) -> Completed:
            done = finish(running, **more)
            return self.forget(done) if set(STATUS) <= set(done.argv) else done

        monkeypatch.setattr(Running, "finish", forgetting)

    def forget(self, done: Completed) -> Completed:
        self.asked += 1
        if self.asked > self.times:
            return done
        lost = b"? " + self.directory
        fields = [f for f in done.stdout.split(b"\0") if not f.startswith(lost)]
        return done._replace(stdout=b"\0".join(fields))


NAMES = ("d/new", "d/e/new", 'd/\xe9\n"', "d/link", f"d/{'n' * 200}/{'m' * 200}")


@pytest.fixture
def grown(task: World) -> World:
    """A workspace with all that git names, and all that it rightly does not."""
    write(task.worktree / ".gitignore", "*.o\nbuilt/\n")
    write(task.worktree / "d/old", "old")
    write(task.worktree / "submodule/file", "x")
    task.capture()
    for name in NAMES[:3] + NAMES[4:]:
        write(task.worktree / name, "new")
    (task.worktree / "d/link").symlink_to("old")
    for name in ("x.o", "built/a", "built/b/c", "d/y.o", "nested/file", "nested/d/file"):
        write(task.worktree / name, "x")
    subprocess.run(["git", "init", "-q", task.worktree / "nested"], check=True, env=task.env)
    os.mkfifo(task.worktree / "d/pipe")
    (task.worktree / "d/old").unlink()
    return task


def test_what_git_rightly_does_not_name_costs_no_second_look(
    grown: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = Forgetful(monkeypatch, b"", 0)
    assert changed_count(grown.store, request(grown)) == len(NAMES) + 1
    assert git.asked == 1
    assert {os.fsencode(name) for name in NAMES} < seen(grown)
    assert git.asked == 3  # the second time in the nested repository
    assert grown.capture().coverage.skipped == ()
    assert git.asked == 5


@pytest.mark.parametrize("directory", [b"d/", b""])
def test_what_git_passed_over_once_is_there(
    grown: World, monkeypatch: pytest.MonkeyPatch, directory: bytes
) -> None:
    Forgetful(monkeypatch, directory, 1)
    assert changed_count(grown.store, request(grown)) == len(NAMES) + 1
    Forgetful(monkeypatch, directory, 1)
    assert {os.fsencode(name) for name in NAMES} < seen(grown)
    Forgetful(monkeypatch, directory, 1)
    done = grown.capture()
    assert {os.fsencode(name) for name in NAMES} < {each.path for each in done.changes}
    assert done.coverage.skipped == ()


def test_what_git_never_names_is_told_and_recorded_later(
    grown: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = Forgetful(monkeypatch, b"d/e/", 9)
    assert changed_count(grown.store, request(grown)) == len(NAMES) + 1
    done = grown.capture()
    assert done.coverage.skipped == (Skipped(b"d/e/new", Reason.UNREADABLE),)
    git.times = 0
    assert [each.path for each in grown.capture().changes] == [b"d/e/new"]
