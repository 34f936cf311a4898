"""What programs print: colours stay, nothing else acts, and a file is read by windows."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.tui.rows.output import WINDOW, FileLines, TextLines, drawn, name_of
from siding.faces.tui.rows.styles import Palette, Styles
from siding.ground.sgr import Style


def shown(text: str) -> tuple[str, list[tuple[str, str]]]:
    line = drawn(text, Style()).line
    return line.text, [(line.text[start:end], style) for start, end, style in line.spans]


def test_only_colours_act() -> None:
    assert shown("a \x1b[1;31mred\x1b[0m b") == ("a red b", [("red", "sgr:1::bold")])
    assert shown("\x1b[2J\x1b[5Aup\x1b]0;title\x07\x1b(B done") == ("up done", [])
    assert shown("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\") == ("link", [])
    assert shown("10%\r100%\r\n".rstrip("\n")) == ("100%", [])
    assert shown("half \x1b[3") == ("half \\x1b[3", [])
    assert shown("\x1b[8mhidden\x1b[0m") == ("hidden", [])
    assert shown("\u202egnp\x00") == ("\\u202egnp\\x00", [])


def test_a_style_goes_on_in_the_next_line() -> None:
    first = drawn("\x1b[32mgreen", Style())
    second = drawn("\tstill\x1b[m", first.style)
    assert [each.style for each in second.line.spans] == ["sgr:2::"]
    assert second.style == Style()


@pytest.mark.parametrize("flags", ["", "bold", "inverse", "under", "strike", "dim", "italic"])
def test_each_style_is_drawn(flags: str) -> None:
    style = Style(fore=200, back=None, flags=frozenset(filter(None, [flags])))
    name = name_of(style)
    for palette in Palette:
        found = Styles(palette)[name]
        assert (found.color is None) is (palette is Palette.NONE)
        assert bool(found.reverse) is (flags == "inverse")
        assert bool(found.bold) is (flags == "bold")


def test_text_on_its_own_colour_is_seen() -> None:
    assert name_of(Style(fore=1, back=1)) == "sgr:1::"


LINE = st.text(st.sampled_from("ab\x1b[31m日\r"), max_size=30)


@given(st.lists(LINE, max_size=30), st.integers(1, 40), st.booleans())
def test_a_file_that_grows_is_the_same_as_the_whole(
    texts: list[str], step: int, ends: bool
) -> None:
    data = "\n".join(texts).encode() + (b"\n" if ends and texts else b"")
    there = 0

    def read(offset: int, size: int) -> bytes:
        return data[offset : min(there, offset + size)]

    lines, new = FileLines(read), 0
    while there < len(data):
        there = min(len(data), there + step)
        new += lines.look()
        assert new == len(lines)
    whole = FileLines(lambda offset, size: data[offset : offset + size])
    whole.look()
    wanted = data.decode().split("\n")
    if not wanted[-1]:
        wanted.pop()
    assert len(lines) == len(whole) == len(wanted)
    style = Style()
    for number, text in enumerate(wanted):
        found = drawn(text, style)
        style = found.style
        assert lines.line(number) == whole.line(number) == found.line


def test_a_large_file_is_read_by_windows(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"".join(b"\x1b[3%dmline %d\n" % (n % 8, n) for n in range(40_000)))
    asked: list[int] = []

    def read(offset: int, size: int) -> bytes:
        asked.append(size)
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(size)

    lines = FileLines(read)
    assert lines.look() == 40_000
    del asked[:]
    assert lines.line(39_000).text == "line 39000"
    assert lines.line(39_000).spans[0].style == "sgr:0::"
    assert lines.line(39_001).text == "line 39001"
    assert lines.line(7).text == "line 7"
    assert len(asked) == 2
    assert max(asked) <= 2 * WINDOW
    assert len(lines._kept) <= 8
    assert lines.look() == 0


def test_a_colour_goes_on_over_windows() -> None:
    data = b"\x1b[31mred from here\n" + b"still\n" * 30_000 + b"\x1b[0mno more\n" + b"x\n" * 50_000
    lines = FileLines(lambda offset, size: data[offset : offset + size])
    lines.look()
    assert [span.style for span in lines.line(29_000).spans] == ["sgr:1::"]
    assert not lines.line(70_000).spans


def test_a_line_without_an_end_is_bounded() -> None:
    data = b"x" * (40 * WINDOW) + b"\nlast\n"
    lines = FileLines(lambda offset, size: data[offset : offset + size])
    lines.look()
    assert [len(lines.line(at).text) < WINDOW for at in range(len(lines))] == [True] * 4
    assert lines.line(0).text.endswith("more characters")
    assert lines.line(3).text == "last"
    assert not lines._tail


def test_lines_in_memory_are_told_when_they_are_looked_for() -> None:
    lines = TextLines(["a"])
    lines.add("b", "c")
    assert len(lines) == 1
    assert lines.look() == 2
    assert [lines.line(at).text for at in range(3)] == ["a", "b", "c"]
