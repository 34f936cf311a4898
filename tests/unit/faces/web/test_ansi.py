"""Terminal output becomes rows of HTML that do nothing, however it is cut into pieces."""

import re
from html import unescape
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from siding.faces.web.ansi import LONGEST_LINE, Converter, palette
from siding.ground.sgr import Style, styled

TAGS = re.compile(r'<span class="[a-z0-9 -]+"(?: title="written over [a-z0-9 ]+")?>|</span>')


def rows(*pieces: bytes) -> list[str]:
    converter = Converter()
    found = []
    for number, piece in enumerate(pieces):
        made = converter.feed(piece, final=number == len(pieces) - 1)
        found += made.closed
        if number == len(pieces) - 1 and made.open:
            found.append(made.open)
    return found


def text(row: str) -> str:
    return unescape(TAGS.sub("", row))


def test_colours_and_weights_are_kept() -> None:
    assert rows(b"\x1b[1;31mred\x1b[0m plain\n") == ['<span class="t-bold f-1">red</span> plain']
    assert rows(b"\x1b[38;5;208;48;5;17mx") == ['<span class="f-208 b-17">x</span>']
    assert rows(b"\x1b[38;2;255;0;0mx") == ['<span class="f-196">x</span>']
    assert rows(b"\x1b[7;33mx") == ['<span class="f-i b-3">x</span>']
    assert rows(b"\x1b[91;104mx") == ['<span class="f-9 b-12">x</span>']


def test_everything_else_is_gone_or_shown() -> None:
    assert rows(b"\x1b[2J\x1b[H\x1b[?25l\x1b]0;title\x07\x1bPx\x1b\\a\n") == ["a"]
    assert rows(b"\x1b]8;;javascript:1\x1b\\link\x1b]8;;\x1b\\\n") == ["link"]
    assert rows(b"\x1b]never ended") == ["\u241b]never ended"]
    assert rows(b"a\x08b\x00\x1bq\n") == ["a\u2408b\u2400\u241bq"]
    assert rows("\u202egood\n".encode()) == ["\\u202egood"]
    assert rows(b"<b>&\n") == ["&lt;b&gt;&amp;"]
    assert rows(b"\xff\xc3\n") == ["\ufffd\ufffd"]


def test_hidden_text_is_shown() -> None:
    assert rows(b"\x1b[8msecret\n") == ["secret"]
    assert rows(b"\x1b[31;41msecret\n") == ['<span class="f-1">secret</span>']


def test_a_line_that_was_written_over_says_so() -> None:
    (row,) = rows(b"10%\r50%\r100%\n")
    assert text(row) == "\u21ba100%"
    assert "written over 2 times" in row
    assert [text(row) for row in rows(b"a\r\nb\r\r\nc")] == ["a", "b", "c"]


def test_a_long_line_goes_on_in_the_next_row() -> None:
    found = rows(b"x" * (2 * LONGEST_LINE + 5) + b"\n")
    assert [len(row) for row in found] == [LONGEST_LINE, LONGEST_LINE, 5]


PIECES = st.lists(
    st.sampled_from(
        [
            b"plain",
            b"\n",
            b"\r",
            b"\r\n",
            b"\x1b[31m",
            b"\x1b[0m",
            b"\x1b[2K",
            b"\x1b",
            b"[",
            b"m",
            b"\x1b]0;t\x07",
            b"\xe2\x82\xac",
            b"\xe2",
            b"<script>",
            b"\x07",
            b"&amp;",
            b"\x1b[38;5",
        ]
    ),
    max_size=30,
)


@given(PIECES, st.lists(st.integers(0, 200), max_size=6))
def test_pieces_and_the_whole_give_the_same_rows(parts: list[bytes], places: list[int]) -> None:
    raw = b"".join(parts)
    edges = [0, *sorted(place % (len(raw) + 1) for place in places), len(raw)]
    pieces = [raw[a:b] for a, b in pairwise(edges)]
    whole = "\n".join(text(row) for row in rows(raw))
    assert "\n".join(text(row) for row in rows(*pieces)) == whole


@given(st.binary(max_size=400))
def test_any_bytes_become_text_and_known_spans(raw: bytes) -> None:
    for row in rows(raw):
        assert "<" not in TAGS.sub("", row)
        shown = text(row)
        assert not [c for c in shown if ord(c) < 0x20 and c != "\t"]
        assert not set(shown) & set("\u202e\u2066\u200b\x7f")


@given(st.text(alphabet="0123456789;:", max_size=60))
def test_any_parameters_make_a_style(parameters: str) -> None:
    style = styled(Style(), parameters)
    assert style.fore is None or 0 <= style.fore < 256
    assert style.back is None or 0 <= style.back < 256


def test_the_palette_has_every_colour_once() -> None:
    assert len(re.findall(r"\.f-\d+\{color:#[0-9a-f]{6}\}", palette())) == 240
