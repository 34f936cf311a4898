"""Plans, conflicts, steps and names of files as lines of the screen."""

from datetime import UTC, datetime

import pytest

from siding.applying.unresolved import Merging, Unresolved
from siding.faces.plans.plan import ActPlan, grouped, planned
from siding.faces.tui.keys import Key, KeyTable
from siding.faces.tui.places.task.keys import OF_OUTPUT, OF_PATCH, OF_STEPS, OF_TASK, SHEET
from siding.faces.tui.places.task.outputs import error
from siding.faces.tui.places.task.plan_lines import lines_of, merge_lines, merge_ways, ways
from siding.faces.tui.places.task.story import Line, Story, entries
from siding.faces.tui.places.task.tree import from_end
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import Look
from siding.faces.tui.text import cells

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def texts(lines: list[Pieces]) -> list[str]:
    return ["".join(text for text, _style in line) for line in lines]


def plan(**more: object) -> ActPlan:
    groups = [grouped("written", "write", ["a", "b\x1b[2J"])]
    return planned("apply", "Apply to main", "1 commit onto main", groups)._replace(**more)  # type: ignore[arg-type]


def test_a_plan_says_all_that_would_be_done_and_is_inert() -> None:
    found = plan(notes=("n",), commits=tuple(f"c{n}" for n in range(25)))
    lines = texts(lines_of(found))
    assert lines[:4] == ["Apply to main", "1 commit onto main", "note: n", "  commit  c0"]
    assert "          and 5 more" in lines
    assert lines[-3:] == ["2 written", "  a", "  b\\x1b[2J"]
    many = [grouped("deleted", "delete", [str(n) for n in range(900)])]
    lines = texts(lines_of(planned("undo", "Undo", "s", many)))
    assert lines[2] == "900 deleted"
    assert lines[-1] == "  and 700 paths more"
    assert len(lines) == 204


def test_what_is_not_possible_cannot_be_done() -> None:
    assert [key for key, _ in ways(plan())] == ["enter", "escape"]
    assert [key for key, _ in ways(plan(nothing=True))] == ["escape"]
    assert [key for key, _ in ways(plan(stops=("busy",)))] == ["escape"]
    assert [key for key, _ in ways(plan(concerns=("c",)))] == ["f", "escape"]
    conflict = (grouped("in conflict", "stop", ["a"]),)
    assert [key for key, _ in ways(plan(stops=("c",), groups=conflict))] == ["m", "escape"]
    assert [key for key, _ in ways(plan(act="sync", stops=("c",), groups=conflict))] == ["escape"]


def test_a_conflict_goes_on_when_nothing_is_left() -> None:
    left = Merging(
        "main", "0002", False, (Unresolved("a", "contents", False), Unresolved("b", "x", True))
    )
    assert texts(merge_lines(left, "/w"))[1:4] == [
        "1 of 2 paths resolved, in /w",
        "markers left  b  x",
        "no markers    a  contents",
    ]
    assert [key for key, _ in merge_ways(left)] == ["x", "escape"]
    none = left._replace(paths=left.paths[:1])
    assert [key for key, _ in merge_ways(none)] == ["enter", "x", "escape"]
    assert [key for key, _ in merge_ways(none._replace(syncs=True))] == ["x", "escape"]


def line(key: str, **more: object) -> Line:
    usual = Line(
        key=key,
        name=f"{int(key):04d}",
        kind="run",
        title=f"title {key}",
        status="",
        failed=False,
        files=0,
        additions=0,
        deletions=0,
        duration_ms=0,
        at="2026-01-01T00:00:00+00:00",
        number=int(key),
    )
    return usual._replace(**more)  # type: ignore[arg-type]


def test_turns_are_below_an_opened_run_and_what_was_left_only_if_wanted() -> None:
    story = Story(
        (
            line("4", run="r1", turns=2),
            line("3", run="r1", depth=1),
            line("2", run="r1", depth=1, state="left"),
            line("1", state="left"),
        ),
        left=2,
        more=False,
    )

    def keys(opened: set[str], *, left: bool) -> list[str]:
        shown = entries(story, shows_left=left, opened=opened, look=Look(), now=NOW)
        return [each.key for each in shown]

    assert keys(set(), left=False) == ["4"]
    assert keys({"r1"}, left=False) == ["4", "3"]
    assert keys({"r1"}, left=True) == ["4", "3", "2", "1"]
    (first, *_rest) = entries(story, shows_left=True, opened=set(), look=Look(), now=NOW)
    assert "2 turns" in "".join(text for cell in first.cells for text, _style in cell)


@pytest.mark.parametrize("width", [8, 12, 20, 40])
def test_a_path_keeps_its_end(width: int) -> None:
    for path in (
        "a/b.txt",
        "src/siding/faces/tui/places/task/tree.py",
        "日本語/とても長い名前.txt",
    ):
        for is_ascii in (False, True):
            kept = from_end(path, width, Look(is_ascii=is_ascii))
            assert cells(kept) <= width
            assert kept.endswith(path[-3:])


def test_words_of_errors() -> None:
    wanted = error()
    some = ["Error: x", "1 failed", "FAILED a", "Traceback (most", "✗ two", "ValueError: x"]
    some += ["a panic", "fatal: no", "an EXCEPTION", "OSException"]
    for each in some:
        assert wanted.place_in(each) >= 0, each
        assert wanted.may_be_in(each.encode()), each
    none = ["terror", "ok", "failsafe", "exceptional"]
    assert all(wanted.place_in(each) < 0 for each in none)


@pytest.mark.parametrize("own", [OF_PATCH, OF_STEPS, OF_OUTPUT])
def test_no_key_of_a_tab_hides_one_of_the_task(own: tuple[Key, ...]) -> None:
    """An act of the task is reached in each tab: by its key, unless the tab has the same act."""
    acts = {each.act for each in own}
    rest = tuple(each for each in OF_TASK if each.act not in acts)
    table = KeyTable("task", (*own, *rest))
    for each in rest:
        assert table.key_of(each.act), each.act
    assert len({each.act for each in table.entries}) == len(table.entries)


def test_the_keys_of_the_sheet_do_not_collide() -> None:
    table = KeyTable("sheet", SHEET)
    assert all(table.key_of(each.act) == each.keys[0] for each in SHEET)
