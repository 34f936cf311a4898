"""What is drawn where no other terminal is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.process.command import WindowSize
from siding.ground.process.emulator import TextScreen, width


def drawn(text: str, *, rows: int = 4, columns: int = 10) -> TextScreen:
    screen = TextScreen(WindowSize(rows=rows, columns=columns))
    screen.feed(text)
    return screen


def test_a_wide_character_that_is_half_overwritten_is_gone() -> None:
    assert drawn("日本\x1b[2Gx").lines()[0] == " x本"
    assert drawn("日本\x1b[1Gx").lines()[0] == "x 本"
    assert drawn("a日\x1b[1G\x1b[P").lines()[0] == "日"


def test_what_left_the_screen_at_its_top_is_kept() -> None:
    screen = drawn("".join(f"{number}\r\n" for number in range(10)))
    assert screen.past_lines() == [str(number) for number in range(7)]
    assert screen.lines() == ["7", "8", "9", ""]


def test_a_malformed_sequence_does_not_hide_what_follows() -> None:
    assert drawn("a\x1b[\x07b").lines()[0].replace("[", "") == "ab"
    assert drawn("a\x1b\x01b").lines()[0] == "ab"
    assert drawn("a\x1b]0;t\x1b[Cb").lines()[0] == "a b"


def test_widths() -> None:
    assert [width(each) for each in "aé日\u0301\u200d한🙂─"] == [1, 1, 2, 0, 0, 2, 2, 1]


@given(st.text(alphabet=st.sampled_from("ab日\u0301\x1b[]0;159HJKLMPXST@rh?l\r\n\t\b#8()ED")))
def test_whatever_comes_the_screen_keeps_its_size(text: str) -> None:
    screen = drawn(text)
    lines = screen.lines()
    assert len(lines) == 4
    assert all(sum(width(each) for each in line) <= 10 for line in lines)


@pytest.mark.parametrize(
    "piece", ["a\x1b[999b", "\x1b[2J", "\x1b[500M", "\x1b[?1049h\x1b[?1049l", "\x1b#8", "\x1bc"]
)
def test_output_that_was_made_to_take_long_is_given_up(piece: str) -> None:
    """A megabyte of any of these would be drawn for minutes."""
    screen = drawn(piece * (1_000_000 // len(piece)) + "\x1b[Hend", rows=500, columns=500)
    assert screen.lines()[0] != "end"
