"""Every command there is, on a disk without bytes, without names, and in a home that is read-only.

All commands that look end as ever. The others refuse, say why and what to do, and change nothing
that a person sees; once there is room again everything goes on. `no_room.py` has the list.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from dashboards import Dashboard
from sandbox import Sandbox
from siding.faces.web.table import PAGES

from .no_room import (
    FREES,
    READS,
    ROWS,
    Row,
    every_verb,
    fill,
    fill_world,
    remount,
    small_disk,
    tree_of,
    use_up_names,
)

WHY = re.compile("No space left on device|[Rr]ead-only|no room|room on its disk")
WHAT_TO_DO = re.compile("^  hint: .*(room|read-only|writable)", re.MULTILINE)
# These add to a file that is there; `agent effort` needs one name alone, and what a command before
# it has swept away gives one.
NEEDS_NO_NAME = ("session rewind", "session compact", "agent effort")
OPENED = (
    *(path for path in PAGES if "{" not in path),
    *("/tasks/TASK", "/tasks/TASK/changes", "/tasks/TASK/steps/2"),
    *("/api/v1/project", "/api/v1/tasks"),
)


class World(NamedTuple):
    """A sandbox whose home is on a small disk, with something of everything in it."""

    sandbox: Sandbox
    small: Path

    def seen(self) -> Mapping[str, object]:
        """Return what a person sees: tasks, steps, files, branches, sessions, questions."""
        box = self.sandbox
        tasks = box.json("task", "list", "--all", "--format", "json")
        looks: dict[str, object] = {"tasks": [(each["id"], each["status"]) for each in tasks]}
        for name in ("old", "gone", "spare", "redoable", "new"):
            looks[f"log {name}"] = box.steps(name)
        looks["sessions"] = box.siding("session", "show", "--format", "lines").stdout
        looks["questions"] = self.questions()
        looks["git"] = box.git("for-each-ref") + box.git("worktree", "list", "--porcelain")
        looks["checkout"] = tree_of(box.repo, without=(".git",))
        for place in (self.small / "home" / "projects").glob("*/workspaces"):
            looks["workspaces"] = tree_of(place)
        return looks

    def questions(self) -> list[str]:
        found = self.sandbox.json("decide", "list", "--json")
        return [each["session_id"] for each in found]

    def call(self, row: Row) -> "subprocess.CompletedProcess[bytes]":
        known = {"DECISION": self.questions()[0]} if "DECISION" in row.words else {}
        known["ASIDE"] = str(self.small / "aside")
        return self.sandbox.siding(*(known.get(word, word) for word in row.words), status=None)

    def lack(self, what: str) -> None:
        """Take the room, or the right to write."""
        if what == "bytes":
            fill(self.small)
        elif what == "names":
            use_up_names(self.small)
        else:
            remount(self.small, "ro")

    def give_back(self) -> None:
        remount(self.small, "rw")
        (self.small / "filler").unlink(missing_ok=True)
        shutil.rmtree(self.small / "names", ignore_errors=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("world")
    small = directory / "small"
    with small_disk(small, "size=60m,nr_inodes=3000"):
        sandbox = Sandbox(directory / "box")
        elsewhere = directory / "elsewhere"
        elsewhere.mkdir()
        sandbox.env |= {"SIDING_HOME": str(small / "home"), "TMPDIR": str(elsewhere)}
        fill_world(sandbox, small / "aside")
        yield World(sandbox=sandbox, small=small)
        assert not [each.name for each in elsewhere.iterdir()], (
            "something was left outside the home"
        )


@pytest.fixture
def world(made: World) -> Iterator[World]:
    try:
        yield made
    finally:
        made.give_back()


def test_every_command_has_its_row() -> None:
    assert set(ROWS) == every_verb()


@pytest.mark.parametrize("lacking", ["bytes", "names", "the right to write"])
def test_every_command_has_its_answer(world: World, lacking: str) -> None:
    before = world.seen()
    world.lack("" if lacking.startswith("the") else lacking)
    wrong = []
    for verb, rows in ROWS.items():
        for row in rows:
            if row.does == FREES and lacking in ("bytes", "names"):
                continue  # `test_no_room.py` sees them make room
            if verb in NEEDS_NO_NAME and lacking == "names":
                continue
            done = world.call(row)
            if fault := fault_of(row, done):
                wrong.append((*row.words, fault, done.returncode, done.stderr.decode()))
    assert not wrong
    during = world.seen()
    assert {key: during[key] for key in before} == before
    world.give_back()
    assert world.seen() == before
    world.sandbox.siding("doctor")
    world.sandbox.siding("doctor", "--check")
    for name in ("old", "spare", "new"):
        world.sandbox.siding("verify", name)
    world.sandbox.siding("run", "--", "sh", "-c", "echo more >>hello.txt")
    world.sandbox.siding("rollback", "--step", "1")
    world.sandbox.siding("undo")


def fault_of(row: Row, done: "subprocess.CompletedProcess[bytes]") -> str | None:
    """Return what is wrong with how a command ended; None if nothing is."""
    said = done.stderr.decode()
    if row.does == READS:
        return None if done.returncode == row.status else "could not look"
    if done.returncode not in (1, 2):
        return "did not refuse"
    if not WHY.search(said):
        return "does not say why"
    return None if WHAT_TO_DO.search(said) else "does not say what to do"


@pytest.mark.parametrize("lacking", ["bytes", "the right to write"])
def test_the_dashboard_of_a_home_without_room(world: World, lacking: str) -> None:
    world.lack("" if lacking.startswith("the") else lacking)
    tasks = world.sandbox.json("task", "list", "--all", "--format", "json")
    with Dashboard(world.sandbox) as dashboard:
        (task,) = [each["id"] for each in tasks if each["name"] == "new"]
        answers = {path: dashboard.get(path.replace("TASK", task)) for path in OPENED}
    assert {path: status for path, (status, _) in answers.items()} == dict.fromkeys(OPENED, 200)
