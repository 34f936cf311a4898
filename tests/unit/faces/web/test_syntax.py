"""Colours of a file's lines: as in the whole file, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.faces.web import syntax
from siding.faces.web.syntax import ColouredFiles, coloured

LONG = '"""A text\n\ndef inside(): the text goes on\n"""\n\n\ndef outside():\n    return 1\n'


def test_a_line_is_what_the_lines_above_make_it() -> None:
    lines = coloured("a.py", LONG.split("\n"))
    assert lines is not None
    assert lines[2] == '<span class="k-s">def inside(): the text goes on</span>'
    assert '<span class="k-k">def</span>' in lines[6]


def test_what_is_too_long_or_unknown_has_no_colours() -> None:
    assert coloured("a.py", ["x = 1"] * (syntax.LONGEST // 6 + 1)) is None
    assert coloured("a.nothing-known", ["x = 1"]) is None
    assert coloured("a.py", ["", "  "]) is None


def test_a_file_is_read_and_coloured_once() -> None:
    read = []

    def content() -> str:
        read.append(1)
        return LONG

    files = ColouredFiles()
    for _ in range(3):
        found = files.get("b1", "a.py", content)
        assert found is not None
        assert found.line(3, "def inside(): the text goes on")
        assert found.line(3, "another text") is None
        assert found.line(99, "") is None
        assert found.line(None, "") is None
    assert files.get("", "a.py", content) is None
    assert files.get("b2", "a.nothing-known", content) is None
    assert len(read) == 1


def test_little_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    files = ColouredFiles()
    monkeypatch.setattr(syntax, "_KEPT_CHARACTERS", 200_000)
    for number in range(40):
        assert files.get(f"b{number}", "a.py", lambda: "x = 1\n" * 1000)
    assert len(files._kept) < 40


@given(st.lists(st.text(alphabet="\"'#\\\r\t aé=()[]{}:\x0b\u2028", max_size=12), max_size=8))
def test_there_is_a_row_for_each_line(lines: list[str]) -> None:
    found = coloured("a.py", lines)
    assert found is None or len(found) == len(lines)
