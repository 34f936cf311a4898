"""What works beside a conversation, of a story and of the feed; and what is drawn of it."""

from typing import Any

import pytest

from siding.chat.beside import Helper, HelperState
from siding.faces.tui.rows.styles import Look, Palette
from siding.faces.tui.selector.drawing import MOST_ROWS, duration, hint, rows_of_selector
from siding.faces.tui.selector.entries import all_entries, entry_of, seconds
from siding.faces.tui.selector.model import (
    End,
    Entry,
    Kind,
    Selector,
    focused,
    press,
    taken,
    view,
)
from siding.faces.tui.text import cells
from siding.feed.model import RowKind, State
from unit.faces.tui.home.feeds import feed, row
from unit.statusline.test_document import CASES

LOOK = Look(Palette.NONE)


@pytest.mark.parametrize("case", CASES["format.duration"], ids=str)
def test_measured_durations(case: dict[str, Any]) -> None:
    assert duration(*case["args"]) == case["result"]


def test_a_day() -> None:
    assert duration(90_060_000) == "1d 1h 1m"


def test_helpers_are_entries() -> None:
    begun = "2026-11-28T10:00:01Z"
    runs = Helper("call:t1", "Explore", "Research", begun, part="c-t1")
    shell = Helper("background:x", "background", "x", begun)
    failed = runs.over("2026-11-28T10:00:09Z", HelperState.FAILED)
    found = [entry_of(each) for each in (runs, shell, failed)]
    assert [(each.kind, each.end, each.part) for each in found] == [
        (Kind.AGENT, End.NONE, "c-t1"),
        (Kind.SHELL, End.NONE, ""),
        (Kind.AGENT, End.FAILED, "c-t1"),
    ]
    assert found[0].started_s == seconds(begun)
    assert found[2].lasted_s(0) == 8.0


def test_runs_of_workflows_and_their_agents_are_of_the_feed() -> None:
    task = row("t")
    flow = row("f", kind=RowKind.WORKFLOW, parent=task.key, name="review")
    agent = row("m", State.BROKE, kind=RowKind.AGENT, parent=flow.key, name="review:sql")
    other = row("o", kind=RowKind.WORKFLOW, parent="elsewhere")
    found = list(all_entries(feed(task, flow, agent, other), task.key, ()))
    assert [(each.key, each.kind, each.end) for each in found] == [
        ("f", Kind.WORKFLOW, End.NONE),
        ("m", Kind.MEMBER, End.FAILED),
    ]


def _lines(selector: Selector, width: int, now: float = 30.0) -> list[str]:
    rows = rows_of_selector(selector, width, LOOK, now)
    lines = ["".join(text for text, _ in each) for each in rows]
    assert all(cells(each) == width for each in lines), lines
    return [each.rstrip() for each in lines]


EXPLORE = Entry("a", Kind.AGENT, "Explore", "Research src/hooks", 7.0, tokens=10_900)


def test_the_rows() -> None:
    done = EXPLORE._replace(key="b", started_s=8.0, end=End.DONE, ended_s=29.0)
    selector = taken(Selector(), [EXPLORE, done], 30.0)
    lines = _lines(selector, 90)
    assert lines[0].startswith("● main")
    assert lines[0].endswith("↓ to select")
    assert lines[1].startswith("○ Explore  Research src/hooks")
    assert lines[1].endswith("23s · ↓ 10.9k tokens")
    assert lines[2].startswith("✓ Explore")
    assert lines[2].endswith("21s · ↓ 10.9k tokens · done · leaves in 29s")
    assert rows_of_selector(Selector(), 90, LOOK, 30.0) == []


def test_hints() -> None:
    selector = taken(Selector(), [EXPLORE], 30.0)
    chosen = focused(selector)
    assert hint(chosen) == "↑/↓ to select · Enter to view"
    on_it, _acts = press(chosen, "down", 30.0)
    assert hint(on_it) == "↑/↓ to select · Enter to view · x to stop"
    ended = taken(on_it, [EXPLORE._replace(end=End.DONE, ended_s=30.0)], 30.0)
    assert hint(ended).endswith("x to clear")
    assert hint(view(selector, "a", 30.0).selector) == "↓ to select"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 300])
def test_every_width_and_many_rows(width: int) -> None:
    many = [Entry(f"k{n}", Kind.SHELL, "漢字 שלום", "x\x1b[2J " * 20, float(n)) for n in range(20)]
    selector = focused(taken(Selector(), many, 30.0))
    for _ in range(20):
        lines = _lines(selector, width)
        assert len(lines) == MOST_ROWS
        assert lines[-1] == "  15 more"
        assert "\x1b" not in "".join(lines)
        highlighted = [each for each in lines if each.startswith("●")]
        assert len(highlighted) == 1
        selector, _acts = press(selector, "down", 30.0)
