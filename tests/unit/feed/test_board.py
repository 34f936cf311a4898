"""Rows of the board, groups of the overview, and entries of the inbox."""

from integration.undo.desk import Desk
from siding.asking.question import ask
from siding.feed.board import look, rows
from siding.feed.fold import feed_of
from siding.feed.inbox import waiting, waiting_in
from siding.feed.model import State
from siding.feed.overview import overview, total_change
from siding.tasks.changes import TaskUpdate, update
from unit.faces.cli.in_process import cut_off

QUESTION = {
    "task": "t",
    "source": "s",
    "items": [{"id": 1, "title": "Which?", "kind": "text"}],
}


def test_a_row_follows_the_last_step(desk: Desk) -> None:
    (row,) = rows(desk.project, include_closed=False)
    assert (row.id, row.name, row.steps, row.last_status) == (desk.task.id, "work", 0, "")
    assert (row.active, row.running, row.workspace) == (True, False, "active")
    desk.shell("echo more >>hello.txt; exit 3")
    (row,) = rows(desk.project, include_closed=False)
    assert (row.steps, row.last_status, row.files, row.additions) == (1, "failed", 1, 1)


def test_a_closed_task_is_left_out_and_blocks_nobody(desk: Desk) -> None:
    other = desk.plan("other").id
    update(desk.project, "other", TaskUpdate(blocked_by=("work",)))
    assert [row.blocked for row in rows(desk.project, include_closed=False)] == [False, True]
    desk.close()
    (row,) = rows(desk.project, include_closed=False)
    assert (row.id, row.blocked) == (other, False)
    assert [each.status for each in rows(desk.project, include_closed=True)] == [
        "closed",
        "pending",
    ]


def test_a_task_that_cannot_be_read_is_named(desk: Desk) -> None:
    other = desk.plan("other").id
    desk.project.task_layout(other).task_json.write_text("{", encoding="utf-8")
    board = look(desk.project, include_closed=True)
    assert [row.id for row in board.rows] == [desk.task.id]
    assert board.unreadable == [other]


def test_a_damaged_cache_changes_nothing(desk: Desk) -> None:
    before = rows(desk.project, include_closed=True)
    cache = desk.project.layout.root / "cache" / "board.json"
    assert cache.is_file()
    for content in ("", "{", '{"version": 2, "tasks": {"x": 1}}'):
        cache.write_text(content, encoding="utf-8")
        assert rows(desk.project, include_closed=True) == before


def test_groups_of_the_overview(desk: Desk) -> None:
    planned = desk.plan("later").id
    assert states(desk) == {"work": State.RESTS, "later": State.RESTS}
    ask(desk.project, QUESTION, key="which", task_id=planned)
    ask(desk.project, QUESTION, key="who")
    found = overview(desk.project, feed_of(desk.project.app))
    assert [card.row.id for card in found.group(State.WAITS)] == [planned]
    assert [each.entry.task_id for each in found.loose] == [""]
    desk.shell("echo more >>hello.txt")
    assert states(desk) == {"work": State.READY, "later": State.WAITS}
    desk.shell("exit 3")
    assert states(desk)["work"] is State.BROKE
    desk.close()
    assert states(desk)["work"] is State.DONE


def states(desk: Desk) -> dict[str, State]:
    found = overview(desk.project, feed_of(desk.project.app))
    return {card.row.name: card.state for card in found.cards}


def test_an_act_that_was_cut_off_does_not_run(desk: Desk) -> None:
    cut_off(desk, "sleep", "60")
    (card,) = overview(desk.project, feed_of(desk.project.app)).cards
    assert (card.doing, card.is_cut_off, card.state) == ("", True, State.BROKE)


def test_what_a_task_changed_since_its_base(desk: Desk) -> None:
    desk.shell("echo more >>hello.txt")
    last = desk.shell("echo new >new")
    assert last.snapshot is not None
    assert total_change(desk.project, desk.task.id, last.snapshot) == (2, 2, 0)
    assert total_change(desk.project, desk.task.id, "") is None
    assert total_change(desk.project, desk.task.id, "0" * 40) is None


def test_a_failed_step_waits_until_the_next_one(desk: Desk) -> None:
    assert waiting_in(desk.project).entries == ()
    desk.shell("exit 3")
    (entry,) = waiting_in(desk.project).entries
    assert (entry.kind, entry.task_id, entry.step_id) == ("failed", desk.task.id, "0001")
    assert entry.title.startswith("exit 3: ")
    assert entry.command == f"siding show 1 -t {desk.task.id}"
    assert waiting(desk.project.app).entries == (entry,)
    desk.shell("true")
    assert waiting_in(desk.project).entries == ()


def test_hooks_of_a_repository_wait_and_a_damaged_file_hides_nothing_else(desk: Desk) -> None:
    config = desk.sandbox.repo / ".siding" / "config.yaml"
    config.parent.mkdir()
    config.write_text("hooks: {pre_run: [make]}\n")
    (entry,) = waiting_in(desk.project).entries
    assert (entry.kind, entry.detail, entry.command) == ("hooks", "make", "siding trust --show")
    desk.shell("exit 3")
    config.write_text("hooks: [\n")
    found = waiting_in(desk.project)
    assert [each.kind for each in found.entries] == ["failed"]
    (problem,) = found.problems
    assert "is not valid YAML" in problem
