"""Clocks that jump, file systems that cannot be relied on (P18), homes of every version (P19)."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from golden import make_home
from siding.ground.errors import SidingError
from siding.record.place import new_project
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import App, open_app
from siding.running.checkpoint import checkpoint
from siding.tasks.start import start_task

from .arena import resolve
from .commands import GATE, act, answer, assert_whole, board, fresh, steps, task_files
from .copies import adopt
from .product import siding

pytestmark = GATE

NOON = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)


class JumpingClock:
    """Goes back by an hour and forward by years, at every look."""

    def __init__(self) -> None:
        self._jumps = self._endless()

    def now(self) -> datetime:
        return NOON + next(self._jumps)

    def monotonic(self) -> float:
        return 0.0

    def _endless(self) -> Iterator[timedelta]:
        while True:
            for hours in (0, -1, -30000, 80000, 3, -2, 50):
                yield timedelta(hours=hours)


def app_in(case: Path) -> App:
    _, env, cwd = resolve(siding(), case)
    return open_app(env=env, cwd=Path(cwd))._replace(clock=JumpingClock())


def recorded_under_a_jumping_clock(case: Path) -> None:
    fresh(case)
    project, _ = ensure_project(app_in(case))
    task = start_task(project, name="alpha", base=None).task
    for number in range(4):
        checkpoint(
            Project(project.app, project.layout, project.paths),
            task.id,
            f"mark {number}",
            wait=False,
        )
    act(case, "run", "--", "true")


def order_holds(case: Path, *, fault: str = "") -> None:
    words = ("log", "-t", "alpha", "--limit", "0", "--format", "json")
    found = answer(case, *words, fault=fault)
    assert [step.get("message") for step in found[:4]] == [f"mark {n}" for n in range(4)]
    assert [step["step_id"] for step in found] == [f"{n + 1:04d}" for n in range(5)]
    assert all(step["duration_ms"] >= 0 for step in found), found
    moments = [step["started_at"] for step in found]
    assert moments != sorted(moments), "the clock did not jump"


def test_steps_keep_their_order_whatever_the_clock_says(tmp_path: Path) -> None:
    recorded_under_a_jumping_clock(tmp_path)
    order_holds(tmp_path)
    assert_whole(tmp_path, "alpha")
    for words in (("status",), ("log",), ("task", "list"), ("worktree", "events")):
        shown = act(tmp_path, *words).stdout
        assert "-" not in [word[0] for word in shown.split() if word.endswith("ago")], shown


def test_files_that_are_older_than_their_cache_are_read_again(tmp_path: Path) -> None:
    """A clock set back gives a file an earlier time: the board must not trust an old look at it."""
    fresh(tmp_path)
    act(tmp_path, "task", "start", "alpha")
    assert board(tmp_path)["alpha"]["owner"] == ""
    path = task_files(tmp_path, "alpha") / "task.json"
    act(tmp_path, "task", "update", "alpha", "--owner", "me")
    os.utime(path, (0, 0))
    assert board(tmp_path)["alpha"]["owner"] == "me"


@pytest.mark.parametrize("reason", ["NFS", "a FUSE file system (sshfs)"])
def test_a_file_system_that_cannot_be_relied_on_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    fresh(tmp_path)
    monkeypatch.setattr(new_project, "unsupported_reason", lambda _path: reason)
    with pytest.raises(SidingError, match="locks and flushes") as raised:
        ensure_project(app_in(tmp_path))
    assert reason in raised.value.message
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("version", range(1, make_home.VERSION + 1))
def test_a_home_of_an_older_version_opens(tmp_path: Path, version: int) -> None:
    make_home.opened(version, tmp_path)
    adopt(tmp_path)
    (tmp_path / "tmp").mkdir()
    tasks = board(tmp_path)
    assert {name: task["status"] for name, task in tasks.items()} == {
        "planned": "pending",
        "closed": "closed",
        "kept": "closed",
        "open": "active",
    }
    shown = answer(tmp_path, "task", "show", "open", "--format", "json")
    assert (shown["owner"], shown["metadata"]["tags"]) == ("ada", ["a", "b"])
    assert [step["kind"] for step in steps(tmp_path, "open")] == ["run", "run", "checkpoint"]
    first = act(tmp_path, "show", "1", "-t", "open").stdout
    assert "out" in first
    assert "err" in first
    assert "terminal" in act(tmp_path, "show", "2", "-t", "open").stdout
    assert "+two" in act(tmp_path, "diff", "-t", "open", "--step", "1").stdout
    assert "they are allowed" in act(tmp_path, "trust", "--show").stderr
    for name in ("open", "closed", "kept"):
        assert_whole(tmp_path, name, but="is not anchored yet")
    assert act(tmp_path, "doctor", "--check").stdout == "everything agrees\n"
    act(tmp_path, "run", "-t", "open", "--", "sh", "-c", "echo later >> file")
    assert_whole(tmp_path, "open")  # its first new step has anchored it
    assert steps(tmp_path, "open")[-1]["diff_stat"]["file_list"] == ["file"]
    act(tmp_path, "worktree", "add", "planned")
    act(tmp_path, "task", "close", "open", "--force")
    assert_whole(tmp_path, "open")


def test_the_golden_homes_are_all_there() -> None:
    for version in range(1, make_home.VERSION + 1):
        assert make_home.archive(version).is_file()
