"""What a person sees is inert, aligned, and coloured only when wanted."""

import io
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.table import NARROWEST, fit, print_table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text())
def test_inert_text_has_no_controls(text: str) -> None:
    shown = inert(text)
    assert not any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert not any(c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for c in shown)
    shown.encode("utf-8")


@given(st.text(alphabet=st.characters(exclude_categories=["C"]), max_size=40))
def test_plain_text_stays(text: str) -> None:
    assert inert(text) == text


def test_escapes_are_spelled_out() -> None:
    assert inert("a\x1b[31mb") == "a\\x1b[31mb"
    assert inert("a\nb\tc") == "a\\nb\\tc"
    assert inert("a\nb\tc\x07", lines=True) == "a\nb\tc\\x07"
    assert inert("\udcff") == "\\xff"


def columns_of(text: str) -> int:
    """The cells of a terminal: a mark on a letter takes none, a wide character two."""
    letters = [each for each in text if not combining(each)]
    return len(letters) + sum(east_asian_width(each) in "WF" for each in letters)


@given(st.text(max_size=60), st.integers(2, 30))
@example("00\u0300", 2)
@example("\u4e16\u754c\u4e16\u754c", 5)
def test_shortened_text_fits(text: str, columns: int) -> None:
    shortened = shorten(text, columns)
    assert columns_of(shortened) <= columns
    assert shortened == text or columns_of(text) > columns


@pytest.mark.parametrize(
    ("env", "wish", "coloured"),
    [
        ({}, "auto", True),
        ({"NO_COLOR": "1"}, "auto", False),
        ({"NO_COLOR": "1"}, "always", True),
        ({"NO_COLOR": ""}, "auto", True),
        ({"TERM": "dumb"}, "auto", False),
        ({}, "never", False),
    ],
)
def test_colours(env: dict[str, str], wish: str, coloured: bool) -> None:
    screen = Screen(env=env, out=Terminal(), err=Terminal(), colour=wish)
    assert ("\x1b[" in screen.style("x", "red")) is coloured


def test_a_pipe_gets_no_colours() -> None:
    screen = Screen(env={}, out=io.StringIO(), err=io.StringIO())
    assert screen.style("x", "red") == "x"


def test_tables_align_wide_characters() -> None:
    out = io.StringIO()
    print_table(Screen(env={}, out=out, err=out), ("A", "B"), [("日本", "x"), ("a", "y")])
    lines = out.getvalue().splitlines()
    assert lines == ["A     B", "日本  x", "a     y"]


@given(st.lists(st.integers(0, 200), min_size=1, max_size=9), st.integers(0, 300))
@example([10, 10, 10, 10, 10], 43)
@example([9, 8, 7, 6, 5, 200], 40)
def test_widths_fit_and_the_widest_give_way(widths: list[int], room: int) -> None:
    fitted = fit(widths, room)
    assert all(new <= old for new, old in zip(fitted, widths, strict=True))
    assert all(new == old for new, old in zip(fitted, widths, strict=True) if old <= NARROWEST)
    assert sum(fitted) <= room or all(width <= NARROWEST for width in fitted)
    if sum(widths) <= room:
        assert fitted == widths
    cut = [new for new, old in zip(fitted, widths, strict=True) if new < old]
    uncut = [new for new, old in zip(fitted, widths, strict=True) if new == old]
    assert not cut or not uncut or max(uncut) <= max(cut) + 1


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_table_is_no_wider_than_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siding.faces.cli.screen.screen.terminal_columns", lambda: columns)
    out = Terminal()
    rows = [("0001", "run", "sh -c " + "x" * 80, "3 日本 ago"), ("0002", "apply", "y", "-")]
    header = ("STEP", "KIND", "COMMAND", "WHEN")
    print_table(Screen(env={"NO_COLOR": "1"}, out=out, err=out), header, rows)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert all(len(line) + line.count("日") + line.count("本") <= columns for line in lines)
    assert lines[1].startswith("0001  run    sh -c xx")
    piped = io.StringIO()
    print_table(Screen(env={}, out=piped, err=piped), header, rows)
    assert "x" * 80 in piped.getvalue()
