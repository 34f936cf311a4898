"""What is compared: a step, a range, the whole task, and what cannot be."""

import pytest

from integration.undo.desk import Desk
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.record.recording.difference import difference


@pytest.fixture
def two(desk: Desk) -> Desk:
    """A task of two steps and a change that no step has."""
    desk.shell("echo one >one")
    desk.shell("echo two >two; chmod 600 one")
    desk.write("three", "three\n")
    return desk


def names(desk: Desk, *paths: str, **points: str) -> list[str]:
    asked = {"at": None, "start": None, "end": None, **points}
    with difference(desk.project, None, **asked) as found:
        return sorted(str(each) for each in found.stat_record(found.paths(paths))["file_list"])


def test_the_points_of_a_range(two: Desk) -> None:
    assert names(two) == ["one", "three", "two"]
    assert names(two, start="base", end="last") == ["one", "two"]
    assert names(two, start="1") == ["three", "two"]  # of `one` only permissions changed
    assert names(two, start="2", end="now") == ["three"]
    assert names(two, at="1") == ["one"]
    assert names(two, "two") == ["two"]


def test_permissions_are_told_apart(two: Desk) -> None:
    with difference(two.project, None, at="2", start=None, end=None) as found:
        (change,) = found.mode_changes()
    assert (change.path, change.after & 0o777) == (b"one", 0o600)


def test_points_that_cannot_be_compared(desk: Desk) -> None:
    desk.checkpoint()
    for points in ({"at": "1", "start": "base"}, {"start": "now"}, {"end": "somewhere"}):
        with pytest.raises(UsageError):
            names(desk, **points)
    with pytest.raises(NotFound):
        names(desk, at="9")


def test_a_path_that_neither_side_has(desk: Desk) -> None:
    with pytest.raises(NotFound):
        names(desk, "nowhere")


def test_a_task_that_never_had_a_workspace(desk: Desk) -> None:
    desk.plan("later")
    asked = difference(desk.project, "later", at=None, start=None, end=None)
    with pytest.raises(SidingError, match="never had a workspace"), asked:
        pass


def test_the_last_state_stands_for_a_workspace_that_was_removed(two: Desk) -> None:
    (task_id,) = two.project.tasks.ids()
    two.close()
    with difference(two.project, task_id, at=None, start=None, end=None) as found:
        assert set(found.stat_record()["file_list"]) == {"one", "three", "two"}
