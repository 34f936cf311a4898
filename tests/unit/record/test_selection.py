"""Which task a command is about, and what is said when that is not clear."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from siding.ground.errors import NoActiveTask, NotFound, UsageError
from siding.record.place.named_task import resolve
from siding.record.place.project import Project, ensure_project
from siding.record.place.selection import select
from siding.record.place.wiring import open_app


def inside(desk: Desk) -> Project:
    """The project as a command that is started in the task's workspace has it."""
    return ensure_project(open_app(env=desk.sandbox.env, cwd=desk.root / "src"))[0]


def test_by_id_by_name_and_by_the_beginning_of_an_id(desk: Desk) -> None:
    for named in (desk.task.id, "work", desk.task.id[:-1]):
        assert select(desk.project, named).id == desk.task.id


def test_a_name_that_two_open_tasks_have_is_refused_with_their_ids(desk: Desk) -> None:
    other = desk.plan("work")
    with pytest.raises(UsageError) as caught:
        resolve(desk.project, "work")
    assert all(task_id in caught.value.message for task_id in (desk.task.id, other.id))
    desk.close()
    assert resolve(desk.project, "work").id == other.id, "an open task wins over a closed one"


def test_a_name_that_nobody_has_gets_a_close_one_as_hint(desk: Desk) -> None:
    with pytest.raises(NotFound) as caught:
        resolve(desk.project, "wrok")
    assert caught.value.hint == "did you mean 'work'?"
    with pytest.raises(NotFound):
        resolve(desk.project, "")


def test_where_one_stands_wins_over_the_active_task(desk: Desk) -> None:
    other = desk.plan("other")
    desk.project.set_active(other.id)
    assert select(desk.project, None).id == other.id
    assert select(inside(desk), None).id == desk.task.id
    assert select(inside(desk), "other").id == other.id, "a name wins over both"


def test_a_workspace_is_not_the_persons_checkout(desk: Desk, tmp_path: Path) -> None:
    """Settings of git are read in the checkout, and changes are applied to it."""

    def checkout(place: Path) -> Path:
        found = ensure_project(open_app(env=desk.sandbox.env, cwd=place))[0].checkout
        assert found is not None
        return found.root

    assert checkout(desk.root / "src") == checkout(desk.sandbox.repo) == desk.sandbox.repo
    own = tmp_path / "own"
    desk.sandbox.git("worktree", "add", "-q", "--detach", str(own))
    assert checkout(own) == own, "a linked worktree of the person's is one"


def test_nothing_named_and_nothing_active(desk: Desk) -> None:
    desk.close()
    with pytest.raises(NoActiveTask) as caught:
        select(desk.project, None)
    assert "siding task start NAME" in (caught.value.hint or "")
