"""The fold on a real project: the state after each act, and that hints are enough for it."""

from integration.undo.desk import Desk
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import Row, State
from unit.faces.cli.in_process import cut_off


def seen(desk: Desk, fold: HomeFold) -> Row:
    """Look again at the one task, and compare with a look that knows nothing."""
    fold.touched([desk.project.task_layout(desk.task.id).root])
    found = fold.look()
    assert found == feed_of(desk.project.app)
    (row,) = found.rows
    return row


def test_the_state_follows_the_last_step(desk: Desk) -> None:
    fold = HomeFold(desk.project.app)
    assert seen(desk, fold).state is State.RESTS
    desk.shell("echo more >>hello.txt; exit 3")
    row = seen(desk, fold)
    assert (row.state, row.files, row.additions, row.unapplied) == (State.BROKE, 1, 1, 1)
    assert row.what.startswith("exit 3: sh -c")
    desk.shell("true")
    assert seen(desk, fold).state is State.READY
    cut_off(desk, "sleep", "60")
    row = seen(desk, fold)
    assert (row.state, row.what) == (State.BROKE, "cut off: run sleep 60")
