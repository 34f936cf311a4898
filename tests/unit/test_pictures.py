"""The moving pictures of the README: there, whole, small enough, with nothing from outside."""

import re
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tools.pictures.animated_svg import drawn, timed_rows
from tools.pictures.apng import SIGNATURE, Frame, animated, chunks
from tools.pictures.session import COLUMNS, ROWS, Piece, Scene, Typed

CHECKOUT = Path(__file__).resolve().parents[2]
LIMITS = {"docs/images/terminal.svg": 200_000, "docs/images/dashboard.png": 1_000_000}


def test_the_readme_shows_them_and_they_are_small() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (CHECKOUT / "README.md").read_text("utf-8"))
    assert sorted(shown) == sorted(LIMITS)
    sizes = {name: (CHECKOUT / name).stat().st_size for name in LIMITS}
    assert not {name: size for name, size in sizes.items() if size > LIMITS[name]}


def test_the_terminal_moves_with_nothing_from_outside_and_names_no_machine() -> None:
    text = (CHECKOUT / "docs/images/terminal.svg").read_text("utf-8")
    names = {each.tag.rpartition("}")[2] for each in ET.fromstring(text).iter()}
    assert names == {"svg", "title", "style", "rect", "circle", "g", "text", "tspan"}
    assert not re.search(r"url\(|@import|href|(?<!www\.w3\.org/2000)/(?:tmp|root|dev|usr)/", text)
    (whole_s,) = re.findall(r"animation:([0-9.]+)s step-end infinite", text)
    assert 25 <= float(whole_s) <= 40
    words = re.sub("<[^>]*>", "", text)
    for verb in ("run", "diff", "retry", "log", "apply", "undo"):
        assert f"$ siding {verb}" in words


def test_the_dashboard_has_five_to_eight_frames() -> None:
    found = [*chunks((CHECKOUT / "docs/images/dashboard.png").read_bytes())]
    (frames, plays) = struct.unpack(
        ">II", next(each.data for each in found if each.kind == b"acTL")
    )
    assert (frames, plays) == (len([each for each in found if each.kind == b"fcTL"]), 0)
    assert 5 <= frames <= 8
    numbered = [each.data[:4] for each in found if each.kind in (b"fcTL", b"fdAT")]
    assert numbered == [struct.pack(">I", number) for number in range(len(numbered))]


def _png(colour: int, width: int = 2) -> bytes:
    parts = {
        b"IHDR": struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0),
        b"IDAT": zlib.compress(bytes([0, *[colour] * width])),
        b"IEND": b"",
    }
    pieces = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts.items()
    )
    return SIGNATURE + b"".join(pieces)


class TestFrames:
    def test_each_keeps_its_pixels_and_its_time(self) -> None:
        made = [*chunks(animated([Frame(_png(7), 0.5), Frame(_png(9), 2)]))]
        kinds = [each.kind for each in made]
        assert kinds == [b"IHDR", b"acTL", b"fcTL", b"IDAT", b"fcTL", b"fdAT", b"IEND"]
        pixels = [zlib.decompress(made[3].data), zlib.decompress(made[5].data[4:])]
        assert pixels == [bytes([0, 7, 7]), bytes([0, 9, 9])]
        assert [struct.unpack_from(">HH", made[at].data, 20) for at in (2, 4)] == [
            (500, 1000),
            (2000, 1000),
        ]

    @pytest.mark.parametrize("damaged", [b"", _png(1)[:-3], _png(1) + b"x", b"GIF89a"])
    def test_what_is_no_whole_png_is_refused(self, damaged: bytes) -> None:
        with pytest.raises(ValueError, match=r"PNG|damaged|end"):
            animated([Frame(damaged, 1)])

    def test_frames_of_two_sizes_are_refused(self) -> None:
        with pytest.raises(ValueError, match="one size"):
            animated([Frame(_png(1), 1), Frame(_png(1, width=3), 1)])


class TestRows:
    def test_an_agent_is_waited_for_once_and_nothing_else_is(self) -> None:
        pieces = (
            Piece(0.1, b"one\r\n\x1b[32mt"),
            Piece(2, b"wo\x1b[0m\r\n"),
            Piece(60, b"3\r\n"),
        )
        for has_agent in (True, False):
            timed = timed_rows([Scene(Typed("ls", 2, has_agent=has_agent), pieces)])
            assert [row.markup for row in timed.rows[1:4]] == [
                "one",
                '<tspan class="f-2">t</tspan><tspan class="f-2">wo</tspan>',
                "3",
            ]
            prompt, one, two, three, last = (row.at_s for row in timed.rows)
            assert prompt < one == two <= three == last < timed.whole_s < 10
            assert (two < three) == has_agent

    def test_the_window_moves_up_when_it_is_full(self) -> None:
        pieces = (Piece(0.0, b"<&>\r\n" * (ROWS + 3)),)
        text = drawn([Scene(Typed("ls # all", 1), pieces)])
        assert text.count("&lt;&amp;&gt;") == ROWS + 3
        assert "translateY(-100px)" in text  # with the two prompts five rows are too many
        ET.fromstring(text)

    def test_a_row_that_is_too_long_is_refused(self) -> None:
        pieces = (Piece(0.0, b"x" * (COLUMNS + 1) + b"\n"),)
        with pytest.raises(AssertionError, match="characters"):
            timed_rows([Scene(Typed("ls", 1), pieces)])
