"""Laws of rows: none is too wide, nothing is lost, and what a person typed is in them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from siding.faces.tui.rows.lines import Line, fitted, hits, line_of, overlay, rows_of
from siding.faces.tui.rows.wrap import height, wrap
from siding.faces.tui.text import Span, cells, cut, fit, inert, isolated

# Each kind that is measured in its own way: wide, combining, right to left, joined pictures.
MARKS = ["e\u0301", "\u0301", "\u200d", "\u00a0"]
PICTURES = ["\U0001f469\u200d\U0001f4bb", "\U0001f44d\U0001f3fd", "❤\ufe0f", "\U0001f1e9\U0001f1ea"]
LETTERS = st.sampled_from([*"ab .-", "日", "한", "é", "א", "ب", *MARKS, *PICTURES])
TEXT = st.lists(LETTERS, max_size=60).map("".join) | st.text(max_size=40)
NARROW = st.text("ab  -_", max_size=80)
WIDTH = st.integers(2, 30)


@given(TEXT | NARROW, WIDTH)
def test_rows_are_no_wider_than_the_screen_and_lose_nothing(text: str, width: int) -> None:
    parts = wrap(text, width)
    assert all(cell_len(text[start:end]) <= width for start, end in parts)
    assert parts[0].start == 0
    gaps = [text[a.end : b.start] for a, b in pairwise(parts)]
    gaps.append(text[parts[-1].end :])
    assert set(gaps) <= {"", " "}
    assert height(text, width) == len(parts)


HARD = [
    "日本語のテキスト is mixed with 日本 words-and-dashes  and é\u0301 marks",
    "    indented code = call(argument, другой)  # 한국어 comment",
    "a " * 20 + "日 " * 20,
    "\u0301 b\u0301 " * 12,
    "👩\u200d💻 ❤\ufe0f x" * 6,
    "שלום עולם abc " * 4,
    "x" * 50 + " " + "y" * 50,
    " " * 40,
    "",
]


@pytest.mark.parametrize("text", HARD)
def test_hard_texts_keep_the_laws_at_every_width(text: str) -> None:
    spans = [Span(at, at + 3, "xy"[at % 2]) for at in range(0, len(text) - 3, 5)]
    for width in range(2, 60):
        parts = wrap(text, width)
        assert all(cell_len(text[start:end]) <= width for start, end in parts)
        gaps = {text[a.end : b.start] for a, b in pairwise(parts)} | {text[parts[-1].end :]}
        assert gaps <= {"", " "}
        assert len(parts) <= 1 + sum(1 + cell_len(word) * 2 // width for word in text.split(" "))
        styles = [
            style
            for row in rows_of(Line(text, spans), width)
            for piece, style in row
            for letter in piece
            if letter not in "\u2068\u2069"
        ]
        wanted = ["text"] * len(text)
        for start, end, style in spans:
            wanted[start:end] = [style] * (end - start)
        assert styles == [wanted[at] for start, end in parts for at in range(start, end)]


def test_each_row_with_right_to_left_text_is_isolated() -> None:
    plain, mixed = rows_of(Line("abcdef אבגד"), 7)
    assert plain == [("abcdef", "text")]
    assert mixed == [("\u2068אבגד\u2069", "text")]
    (row,) = rows_of(Line("abc אבגד", [Span(4, 6, "x")]), 20)
    assert row == [("\u2068abc ", "text"), ("אב", "x"), ("גד\u2069", "text")]


@given(st.lists(st.text("ab", min_size=1, max_size=8), min_size=1).map(" ".join), WIDTH)
def test_a_word_that_fits_is_in_one_row(text: str, width: int) -> None:
    rows = [text[start:end] for start, end in wrap(text, width)]
    if width >= 8:
        assert " ".join(rows).split() == text.split()
        for row, following in pairwise(rows):
            assert len(row) + 1 + len(following.split(" ")[0]) > width, "a row ends too early"


@given(TEXT, WIDTH)
def test_what_comes_from_outside_is_drawn_inert(text: str, width: int) -> None:
    line = line_of(text)
    assert inert(line.text) == line.text == inert(text.replace("\t", "")) or "\t" in text
    for pieces in rows_of(line, width):
        shown = "".join(piece for piece, _ in pieces)
        assert cell_len(shown) <= width
        inside = shown.strip("\u2068\u2069")
        assert inert(inside) == inside
        assert shown == isolated(inside)


@given(TEXT, st.integers(0, 30))
def test_a_text_is_cut_by_cells(text: str, width: int) -> None:
    safe = inert(text)
    assert cells(safe) == cell_len(safe)
    assert cell_len(cut(safe, width)) <= width
    assert cell_len(fit(safe, width)) == width
    assert cell_len(fit(safe, width, right=True)) == width
    if cell_len(safe) <= width:
        assert cut(safe, width) == safe
    pieces = fitted([(safe[:5], "a"), (safe[5:], "b")], width)
    assert cell_len("".join(piece for piece, _ in pieces)) == width


def test_what_no_two_terminals_measure_alike_is_taken_apart() -> None:
    assert inert("👩‍💻 👍🏽 ❤️") == "👩💻 👍 ❤"
    assert inert("a\u200db \x1b[31m\u202e\u2066\ufeff\r\n\t") == (
        "a\\u200db \\x1b[31m\\u202e\\u2066\\ufeff\\r\\n\\t"
    )
    assert inert("a\tb\n", lines=True) == "a\tb\n"
    assert inert("\udcff") == "\\xff"


def test_tabs_go_to_their_stops_and_spans_with_their_text() -> None:
    line = line_of("a\tb\x07c", [Span(0, 1, "x"), Span(2, 3, "y"), Span(3, 5, "z")])
    assert line.text == "a   b\\x07c"
    assert [(line.text[start:end], style) for start, end, style in line.spans] == [
        ("a", "x"),
        ("b", "y"),
        ("\\x07c", "z"),
    ]
    assert line_of("日\tx").text == "日  x"


@st.composite
def spans_of(draw: st.DrawFn, size: int) -> list[Span]:
    edges = sorted(draw(st.sets(st.integers(0, size), max_size=8)))
    return [
        Span(a, b, draw(st.sampled_from("xy")))
        for a, b in zip(edges[::2], edges[1::2], strict=False)
    ]


@given(st.data(), st.text("ab 日", max_size=40), WIDTH)
def test_each_character_has_the_style_of_its_span(
    data: st.DataObject, text: str, width: int
) -> None:
    spans = data.draw(spans_of(len(text)))
    over = data.draw(spans_of(len(text)))

    def style_at(found: list[Span], at: int) -> str:
        return next((style for start, end, style in found if start <= at < end), "")

    laid = overlay(spans, over)
    wanted = [
        "+".join(filter(None, (style_at(spans, at), style_at(over, at)))) for at in range(len(text))
    ]
    assert [style_at(laid, at) for at in range(len(text))] == wanted
    rows = rows_of(line_of(text, laid), width)
    styles = [style for row in rows for piece, style in row for _ in piece]
    places = [at for start, end in wrap(text, width) for at in range(start, end)]
    assert styles == [wanted[at] or "text" for at in places]


def test_hits_are_found_without_regard_to_case() -> None:
    assert hits("aXbxX", "x") == [(1, 2, "hit"), (3, 4, "hit"), (4, 5, "hit")]
    assert hits("İx", "x") == [(1, 2, "hit")]  # its lower case has two characters
    assert hits("abc", "") == []
