"""The fold on a real project: the state after each act, and that hints are enough for it."""

import json
from datetime import datetime, timedelta
from typing import NamedTuple

from integration.undo.desk import Desk
from siding.feed.fold import HomeFold, feed_of
from siding.feed.model import Row, State
from siding.ground.clock import Clock
from unit.faces.cli.in_process import cut_off


class Later(NamedTuple):
    """A clock that is ahead."""

    clock: Clock
    by: timedelta

    def now(self) -> datetime:
        return self.clock.now() + self.by

    def monotonic(self) -> float:
        return self.clock.monotonic()


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


def test_a_damaged_cache_changes_nothing(desk: Desk) -> None:
    desk.shell("echo more >>hello.txt; exit 3")
    before = feed_of(desk.project.app)
    cache = desk.project.layout.root / "cache" / "board.json"
    whole = json.loads(cache.read_text())
    entry = whole["tasks"][desk.task.id]
    row, more = entry["row"], entry["more"]
    without = {name: value for name, value in row.items() if name != "last_at"}
    damaged = [
        {},
        1,
        {**entry, "row": {}},
        {**entry, "row": without},
        {**entry, "row": {**row, "steps": "1"}},
        {**entry, "more": []},
        {**entry, "more": {}},
        {**entry, "more": {**more, "figures": 7}},
        {name: value for name, value in entry.items() if name != "more"},
    ]
    for each in damaged:
        cache.write_text(json.dumps({**whole, "tasks": {desk.task.id: each}}))
        assert feed_of(desk.project.app) == before, each
    for content in ("", "{", "[]", '{"version": 2}', '{"version": 1, "tasks": {}}'):
        cache.write_text(content)
        assert feed_of(desk.project.app) == before, content
    assert json.loads(cache.read_text()) == whole, "it was written again as it was"


def test_what_cannot_be_read_is_named_and_hides_nothing_else(desk: Desk) -> None:
    other = desk.plan("other").id
    desk.shell("exit 3")
    cut_off(desk, "sleep", "60")
    layout = desk.project.layout
    (intent,) = desk.project.task_layout(desk.task.id).intents_dir.glob("*.json")
    for damaged in (layout.task(other).task_json, intent, layout.worktrees_json):
        whole = damaged.read_bytes()
        damaged.write_bytes(b"{")
        found = feed_of(desk.project.app)
        assert found.problems or damaged == layout.worktrees_json, "the registry is made again"
        assert desk.task.id in {row.id for row in found.rows}, damaged
        damaged.write_bytes(whole)
    runs = layout.task(other).runs_dir
    runs.write_text("no directory")
    found = feed_of(desk.project.app)
    assert {row.id for row in found.rows} == {desk.task.id}
    assert len(found.problems) == 1


def test_a_task_that_was_closed_has_a_row_for_a_day(desk: Desk) -> None:
    desk.close()
    app = desk.project.app
    fold, clock = HomeFold(app), app.clock
    (row,) = fold.look().rows
    assert (row.state, fold.look().done_before) == (State.DONE, 0)
    for hours, shown in ((23, 1), (25, 0)):
        later = app._replace(clock=Later(clock, timedelta(hours=hours)))
        found = feed_of(later)
        assert (len(found.rows), found.done_before) == (shown, 1 - shown)
        fold._app = later  # time goes by, and nothing is hinted
        assert fold.look() == found
