"""From where a task begins when nobody says, and what is in the way of one that comes back."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from siding.ground.git.errors import BranchExists
from siding.record.place.project import Project, ensure_project
from siding.record.place.wiring import open_app
from siding.tasks.close import Fate
from siding.tasks.start import where_one_stands


def at(desk: Desk, place: Path) -> Project:
    """The project as a command has it that is started there."""
    return ensure_project(open_app(env=desk.sandbox.env, cwd=place))[0]


def test_a_task_begins_from_the_branch_of_the_checkout_in_which_one_stands(
    desk: Desk, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    desk.sandbox.git("worktree", "add", "-q", "-b", "other", str(linked))
    assert where_one_stands(at(desk, desk.sandbox.repo)) == "main"
    assert where_one_stands(at(desk, linked)) == "other"
    assert where_one_stands(at(desk, desk.root)) == "main"  # a workspace is not the person's
    desk.sandbox.git("switch", "-q", "--detach", cwd=linked)
    assert where_one_stands(at(desk, linked)) == desk.sandbox.git("rev-parse", "main").strip()


def test_a_branch_in_the_way_of_a_tasks_is_named_and_nothing_comes_back(desk: Desk) -> None:
    desk.close(Fate.DELETE)
    desk.sandbox.git("branch", f"{desk.branch}/below")
    with pytest.raises(BranchExists, match="is in the way of"):
        desk.reopen()
    assert not desk.root.exists()
    desk.sandbox.git("branch", "-m", f"{desk.branch}/below", "elsewhere")
    desk.reopen()
    assert desk.root.is_dir()
