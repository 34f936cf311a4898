"""Each row is one line that fits, from 300 columns down to few; slots and counts."""

from pathlib import Path

import pytest

from siding.faces.tui.places.home.columns import Marks, age, row_pieces, short
from siding.faces.tui.places.home.sections import Item
from siding.faces.tui.places.home.words import counts_pieces, empty_lines
from siding.faces.tui.slots import Slots
from siding.faces.tui.text import cells
from siding.feed.model import AskKind, Row, RowKind, State
from siding.feed.slots import keep_slots, kept_slots
from siding.ground.storage.layout import Home
from unit.faces.tui.home.feeds import NOW, SINCE, ask, feed, row


def line(found: Row, width: int, section: State | None = None, **more: object) -> str:
    asks = {each: ask(each, found.key, AskKind.PERMISSION, "rm -rf build/") for each in found.asks}
    item = Item(found, section or found.state, depth=int(bool(found.parent)))
    marks = Marks(slot=3, is_unseen=True)
    return "".join(text for text, _ in row_pieces(item, marks, asks, NOW, width))


HOSTILE = row(
    "h",
    State.WAITS,
    name="名前" * 30 + "\x1b[2J",
    what="a\nb\u202e",
    asks=("q",),
    agent="claude" * 4,
    additions=123456,
    deletions=99,
    files=3,
)


@pytest.mark.parametrize("width", [24, 40, 60, 71, 72, 88, 96, 100, 160, 300])
@pytest.mark.parametrize("found", [row("a"), HOSTILE, row("p", parent="x", kind=RowKind.AGENT)])
def test_a_row_is_as_wide_as_the_screen_and_inert(found: Row, width: int) -> None:
    shown = line(found, width)
    assert cells(shown) <= max(width, 30)
    assert "\x1b" not in shown
    assert "\n" not in shown
    assert "\u202e" not in shown


def test_columns_go_one_after_the_other() -> None:
    found = row("a", agent="claude", additions=26, deletions=2, files=1)
    for width, there in (
        (100, "flask task a what claude 2m +26"),
        (90, "flask task a what claude 2m"),
        (80, "flask task a what 2m"),
        (60, "task a what 2m"),
    ):
        shown = line(found, width)
        assert all(word in shown for word in there.split()), (width, shown)
    assert "+26" not in line(found, 90)
    assert "claude" not in line(found, 80)
    assert "flask" not in line(found, 60)


def test_what_is_asked_is_said_with_its_kind_and_how_many_more() -> None:
    found = row("a", State.WAITS, asks=("q", "r"))
    assert "permission: rm -rf build/ (and 1 more)" in line(found, 160)


def test_a_row_that_changed_its_state_says_so_where_it_is() -> None:
    assert "[waits]" in line(row("a", State.WAITS), 100, State.RUNS)
    assert "[" not in line(row("a", State.WAITS), 100)


def test_silence_is_said() -> None:
    assert "no sign for 2m" in line(row("a", silent_since=SINCE), 120)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0s"), (59, "59s"), (60, "1m"), (3600, "1h"), (86400 * 3, "3d")]
)
def test_ages(seconds: int, shown: str) -> None:
    assert age(SINCE, NOW - 125 + seconds) == shown
    assert age("", NOW) == ""


def test_short_numbers() -> None:
    assert [short(n) for n in (0, 9999, 10_000, 2_000_000)] == ["0", "9999", "10k", "2M"]


def test_slots_are_given_as_rows_appear_and_stay() -> None:
    slots = Slots()
    slots.take([row("a"), row("b"), row("r", State.RESTS)])
    assert [slots.number_of(each) for each in "abr"] == [1, 2, 0]
    slots.take([row("c"), row("b"), row("a", State.RESTS)])
    assert [slots.number_of(each) for each in "abc"] == [1, 2, 3]
    slots.take([row("c"), row("b")])
    slots.take([row("d"), row("c"), row("b")])
    assert [slots.number_of(each) for each in "dbc"] == [1, 2, 3]
    assert slots.row_of(9) == ""


def test_a_number_that_is_given_by_hand_is_kept_and_taken_back() -> None:
    slots = Slots({4: "z"})
    slots.take([row("a"), row("z")])
    assert slots.number_of("z") == 4
    assert slots.pin(1, "b")
    slots.take([row("a"), row("b")])
    assert slots.number_of("b") == 1
    assert slots.number_of("a") == 2
    assert not slots.pin(1, "b")
    assert slots.pinned == {4: "z"}


def test_no_more_than_nine() -> None:
    slots = Slots()
    slots.take([row(str(n)) for n in range(20)])
    assert [slots.number_of(str(n)) for n in range(11)] == [*range(1, 10), 0, 0]


def test_numbers_are_kept_on_disk_and_a_damaged_file_is_no_obstacle(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert kept_slots(home) == {}
    keep_slots(home, {2: "a", 7: "b"})
    assert kept_slots(home) == {2: "a", 7: "b"}
    (tmp_path / "feed" / "slots.json").write_bytes(b"{")
    assert kept_slots(home) == {}


def test_counts_fit_and_say_what_moved() -> None:
    for width in (40, 60, 100):
        pieces = counts_pieces({State.WAITS: 3}, width, words="", moved=2)
        assert cells("".join(text for text, _ in pieces)) <= width
    text = "".join(t for t, _ in counts_pieces({State.WAITS: 3}, 100, words="", moved=2))
    assert "3 wait" in text
    assert "2 moved, . sorts" in text


def test_an_empty_home_says_how_to_begin() -> None:
    assert any("claude -p" in each for each in empty_lines(feed(projects=0), ""))
    assert "Nothing waits" in empty_lines(feed(), "")[0]
    assert "'zz'" in empty_lines(feed(row("a")), "zz")[0]
    assert empty_lines(feed(row("a")), "") == ()
