"""What the panel draws, at every width, and the ripples behind it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.tui.effort.drawing import NARROW, rows_of_panel, ultra_at, width_of
from siding.faces.tui.effort.model import POSITIONS, Position, opened
from siding.faces.tui.effort.ripple import character, merged, ripple_line, strength, with_ripples
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import Look, Palette
from siding.faces.tui.text import cells

LOOK = Look(Palette.NONE)
ASCII = Look(Palette.NONE, is_ascii=True)


def _text(rows: list[Pieces]) -> list[str]:
    return ["".join(text for text, _ in row).rstrip() for row in rows]


def test_the_slider() -> None:
    panel = opened("high", about="claude · calc")._replace(cursor=Position.XHIGH)
    lines = _text(rows_of_panel(panel, 100, LOOK))
    assert lines[0].startswith("Effort")
    assert lines[0].endswith("claude · calc")
    assert lines[2].startswith("Faster")
    assert lines[2].endswith("Smarter")
    assert lines[3].count("▲") == 1
    at = lines[3].index("▲")
    assert lines[4][at - 2 : at + 3].strip() in "xhigh"
    assert "(high)" in lines[4]
    assert lines[5].strip() == "active"
    assert lines[6].endswith("xhigh + workflows")
    assert lines[-1] == "←/→ choose · enter takes it · esc leaves it"


def test_where_the_cursor_is_on_what_holds_there_is_one_mark() -> None:
    lines = _text(rows_of_panel(opened("high"), 100, LOOK))
    assert "(high)" not in lines[4]
    assert lines[5] == ""


def test_the_variable_is_shown() -> None:
    panel = opened("low", variable="CLAUDE_CODE_EFFORT_LEVEL", override="high")
    panel = panel._replace(cursor=Position.LOW)
    lines = _text(rows_of_panel(panel, 100, LOOK))
    assert lines[1] == "! CLAUDE_CODE_EFFORT_LEVEL=high goes before what is chosen here"
    assert any("(high)" in each for each in lines)


def test_without_efforts_there_is_no_cursor() -> None:
    lines = _text(rows_of_panel(opened("")._replace(refusal="It has none."), 100, LOOK))
    assert "▲" not in "".join(lines)
    assert lines[1] == "It has none."
    assert lines[-1] == "esc leaves it"


def test_the_list_on_few_columns() -> None:
    panel = opened("medium")._replace(cursor=Position.ULTRA)
    lines = _text(rows_of_panel(panel, NARROW - 1, LOOK))
    assert lines[1:-1] == [
        "  low",
        "  medium  active",
        "  high",
        "  xhigh",
        "  max",
        "> ultra  xhigh + workflows",
    ]


@pytest.mark.parametrize("columns", [24, 40, 59, 60, 80, 100, 200])
@pytest.mark.parametrize("cursor", POSITIONS)
def test_no_row_is_wider_than_the_panel(columns: int, cursor: Position) -> None:
    panel = opened("max", about="漢字 " * 20, variable="A" * 30, override="high\x1b[31m")
    panel = panel._replace(cursor=cursor)
    for row in rows_of_panel(panel, columns, LOOK):
        text = "".join(each for each, _ in row)
        assert cells(text) <= width_of(columns), text
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("found", "drawn"),
    [(0.0, " "), (0.09, " "), (0.1, "·"), (0.3, "∙"), (0.5, "░"), (0.7, "▒"), (0.9, "▓"), (1, "~")],
)
def test_characters(found: float, drawn: str) -> None:
    assert character(found, 0) == drawn


def test_a_crest_changes_with_the_time() -> None:
    assert {character(1.0, each * 120.0) for each in range(5)} == set("~◌○◑●")
    assert all(character(each / 50, 0, is_ascii=True).isascii() for each in range(51))


@given(st.integers(0, 120), st.integers(0, 20), st.floats(0, 1e7))
def test_a_strength_is_from_0_to_1(column: int, row: int, time_ms: float) -> None:
    assert 0.0 <= strength(column, row, (60, 5), time_ms) <= 1.0 + 1e-9


def test_text_is_in_front() -> None:
    assert merged([("ab", ""), ("   ", ""), ("c d", "bold")], "~" * 12) == [
        ("ab", ""),
        ("~~~", "dim"),
        ("c d", "bold"),
        ("~~~~", "dim"),
    ]


@given(st.sampled_from(POSITIONS), st.integers(20, 200), st.floats(0, 1e6))
def test_ripples_change_no_text(cursor: Position, columns: int, time_ms: float) -> None:
    """Each word of the panel stays in its column, whatever is behind it."""
    rows = rows_of_panel(opened("low")._replace(cursor=cursor), columns, ASCII)
    width = width_of(columns)
    source = ultra_at(columns, len(rows) - 5)
    with_them = with_ripples(rows, width, source, time_ms, is_ascii=True)
    for plain, rippled in zip(rows, with_them, strict=True):
        before = "".join(text for text, _ in plain)
        after = "".join(text for text, _ in rippled)
        assert len(after) <= max(width, len(before))
        assert all(b == a for b, a in zip(before, after, strict=False) if b != " ")


def test_a_frame_is_the_same_at_the_same_time() -> None:
    assert ripple_line(3, 40, (30, 3), 500.0) == ripple_line(3, 40, (30, 3), 500.0)
    assert ripple_line(3, 40, (30, 3), 500.0) != ripple_line(3, 40, (30, 3), 900.0)
