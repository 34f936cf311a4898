"""What a look costs, in files that are looked at: it follows what changed, not what is there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from integration.undo.desk import Desk
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import State
from unit.faces.cli.in_process import cut_off


class Looks:
    """The paths that were opened, listed, or whose stamp was read, while it counts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        self._counts = False
        for name in ("open", "stat", "lstat", "listdir", "scandir"):
            monkeypatch.setattr(os, name, self._noted(getattr(os, name)))

    @contextmanager
    def counted(self) -> Iterator[list[str]]:
        self.paths = []
        self._counts = True
        try:
            yield self.paths
        finally:
            self._counts = False

    def _noted(self, real: Any) -> Any:
        def call(path: Any = ".", *more: Any, **named: Any) -> Any:
            if self._counts and isinstance(path, str | os.PathLike):
                self.paths.append(os.fspath(path))
            return real(path, *more, **named)

        return call


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    return Looks(monkeypatch)


def test_a_look_after_a_hint_reads_that_task_alone(desk: Desk, looks: Looks) -> None:
    for number in range(4):
        desk.plan(f"plan {number}")
    fold = HomeFold(desk.project.app)
    fold.look()
    with looks.counted() as paths:
        fold.look()
    assert paths == [], "nothing was hinted, and nothing runs"
    desk.shell("echo 1 >a; exit 3")
    task = desk.project.task_layout(desk.task.id).root
    fold.touched([task / "ledger.jsonl"])
    with looks.counted() as paths:
        (first, *_others) = fold.look().rows
    assert first.state is State.BROKE
    strange = [path for path in paths if not Path(path).is_relative_to(task)]
    # The figures of the change: the registry has the workspace, and git is started once.
    assert not [path for path in strange if "/tasks/" in path], strange
    assert len([path for path in paths if path.endswith("ledger.jsonl")]) <= 4
    fold.touched([task / "ledger.jsonl"])
    with looks.counted() as paths:
        fold.look()
    assert paths
    assert all(Path(path).is_relative_to(task) for path in paths), "the figures are known now"
    assert not [path for path in paths if path.endswith(".jsonl") and not path.startswith("/")]


def test_what_goes_on_is_looked_at_without_a_hint(desk: Desk, looks: Looks) -> None:
    desk.plan("rests")
    cut_off(desk, "sleep", "60")
    fold = HomeFold(desk.project.app)
    fold.look()
    with looks.counted() as paths:
        fold.look()
    assert paths
    task = desk.project.task_layout(desk.task.id).root
    assert all(Path(path).is_relative_to(task) for path in paths), paths


def test_a_new_process_opens_no_file_of_a_task_at_rest(desk: Desk, looks: Looks) -> None:
    desk.shell("echo 1 >a")
    for number in range(3):
        desk.plan(f"plan {number}")
    first = feed_of(desk.project.app)
    with looks.counted() as paths:
        again = feed_of(desk.project.app)
    assert again == first
    tasks = f"{desk.project.layout.tasks_dir}/"
    below = [path.removeprefix(tasks).partition("/")[2] for path in paths if path.startswith(tasks)]
    wanted = {"task.json": 4, "ledger.jsonl": 4, "runs": 4, "intents": 4, "running.json": 4}
    wanted["chats"] = 4  # is there any conversation?
    found = {name: below.count(name) for name in {*below}}
    assert all(wanted[name] >= count for name, count in found.items()), found
    cache = [path for path in paths if path.endswith("board.json")]
    assert len(cache) == 1, "it is read, and not written again"
    assert not [path for path in paths if path.endswith(".git")], "git was not started"
