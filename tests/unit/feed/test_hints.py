"""One hint at a time: each is enough for what it is about, where no second one tells the same."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from siding.asking.answer import cancel
from siding.asking.decisions.record import Via
from siding.asking.question import ask
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import Feed, State
from siding.feed.task_work import Figures, WorkCache
from siding.tasks.close import remove_workspace

from .watched import entries, hints

QUESTION = {
    "task": "q",
    "source": "plan.md",
    "items": [{"id": 1, "title": "Which?", "kind": "text"}],
}


def hinted(desk: Desk, fold: HomeFold, *paths: Path) -> Feed:
    """Look after these hints alone, and compare with a look that knows nothing."""
    if paths:
        fold.touched(paths)
    found = fold.look()
    assert found == feed_of(desk.project.app)
    return found


def test_the_registry_alone_tells_that_a_workspace_is_gone(desk: Desk) -> None:
    desk.shell("echo more >>hello.txt")
    fold = HomeFold(desk.project.app)
    (row,) = fold.look().rows
    assert row.state is State.READY
    registry = desk.project.layout.worktrees_json
    before = registry.stat().st_ino
    remove_workspace(desk.project, desk.task, force=True, complete=False)
    assert registry.stat().st_ino != before
    (row,) = hinted(desk, fold, registry).rows
    assert (row.state, row.unapplied) == (State.RESTS, 0)


@pytest.mark.parametrize("hint", ["events.jsonl", "tasks", "tasks/{}"])
def test_a_new_task_is_found_by_each_hint(desk: Desk, hint: str) -> None:
    fold = HomeFold(desk.project.app)
    fold.look()
    task_id = desk.plan("new").id
    found = hinted(desk, fold, desk.project.layout.root / hint.format(task_id))
    assert {row.id for row in found.rows} == {desk.task.id, task_id}


def test_what_is_put_among_the_open_questions_is_hinted(desk: Desk) -> None:
    asked = ask(desk.project, QUESTION, task_id=None).decision
    cancel(desk.project, asked.session_id, via=Via.TERMINAL)
    fold = HomeFold(desk.project.app)
    assert not fold.look().asks
    before = entries(fold.directories())
    (desk.project.layout.decisions_dir / "open" / "2026-01-01T00-00-00.json").write_text("{")
    told = hints(before, entries(before))
    assert told, "its directory is watched"
    assert hinted(desk, fold, *told).asks


def test_an_open_question_is_read_again_without_a_hint(desk: Desk) -> None:
    session_id = ask(desk.project, QUESTION, task_id=desk.task.id).decision.session_id
    fold = HomeFold(desk.project.app)
    assert len(fold.look().asks) == 1
    cancel(desk.project, session_id, via=Via.TERMINAL)
    assert not hinted(desk, fold).asks


def test_figures_are_those_of_their_two_snapshots(desk: Desk) -> None:
    cache, figures = WorkCache(desk.project), Figures(1, 2, 3)
    assert cache.entry(desk.task.id)
    cache.note_figures(desk.task.id, "a", "b", figures)
    assert cache.figures(desk.task.id, "a", "b") == figures
    for since, tip in (("a", "c"), ("c", "b"), ("b", "a"), ("", "b")):
        assert cache.figures(desk.task.id, since, tip) is None, (since, tip)


def test_what_was_changed_back_is_not_ready(desk: Desk) -> None:
    fold = HomeFold(desk.project.app)
    task = desk.project.task_layout(desk.task.id).root
    for script, state, files in (
        ("echo 1 >new", State.READY, 1),
        ("rm new", State.RESTS, 0),
        ("echo 1 >new", State.READY, 1),
    ):
        desk.shell(script)
        (row,) = hinted(desk, fold, task / "ledger.jsonl").rows
        assert (row.state, row.files, row.unapplied > 0) == (state, files, files > 0), script
