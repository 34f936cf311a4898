"""What an agent prints is cut into lines: where its bytes are cut makes no difference."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from siding.agents.talking.lines import JsonLine, LineCutter, in_line
from siding.agents.talking.port import Unread

ODD = (
    b'{"a": 1}\n\n  \r\n{"broken": \n[1]\n"\\ud800"\nnull\n\xff\xfe\n'
    b'{"half": "\\ud83d", "whole": "\\ud83d\\ude00 \xc3\xa9"}\r\n' + b"[" * 200_000 + b"\n"
    b'{"number": ' + b"9" * 5000 + b'}\n{"z": 0}\n{"not whole"'
)


def read(cutter: LineCutter, *pieces: bytes) -> list[object]:
    found = [line for piece in pieces for line in cutter.take(piece)]
    return [dict(line.said) if isinstance(line, JsonLine) else line.line[:20] for line in found]


def test_a_line_that_is_no_object_is_unread_and_the_next_is_read() -> None:
    assert read(LineCutter(), ODD) == [
        {"a": 1},
        '{"broken":',
        "[1]",
        '"\\ud800"',
        "null",
        "��",
        {"half": "?", "whole": "😀 é"},
        "[" * 20,
        '{"number": 999999999',
        {"z": 0},
    ]


@given(st.lists(st.integers(0, 120), max_size=6))
def test_any_cut_gives_the_same_lines(cuts: list[int]) -> None:
    text = ODD[:113] + b"\n"
    places = [0, *sorted(cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert read(LineCutter(16), *pieces) == read(LineCutter(16), text)


def test_a_line_of_five_megabytes_is_read_and_one_that_is_too_long_is_not() -> None:
    line = in_line({"a": "x" * (5 << 20)})
    (read_line,) = LineCutter().take(line)
    assert isinstance(read_line, JsonLine)
    assert read_line.raw == line.rstrip(b"\n")

    cutter = LineCutter(most=1 << 20)
    assert all(cutter.take(line[at : at + 4096]) == [] for at in range(0, len(line) - 4096, 4096))
    (unread, after) = cutter.take(b'tail"}\n{"b": 2}\n')
    assert isinstance(unread, Unread)
    assert len(unread.line) < 1 << 17
    assert isinstance(after, JsonLine)
    assert after.said == {"b": 2}


def test_what_is_sent_is_one_line_of_whole_characters() -> None:
    line = in_line({"a": "one\ntwo\u2028 é \ud83d"})
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"a": "one\ntwo\u2028 é ?"}


def test_a_line_of_exactly_so_many_bytes_is_read_each_time() -> None:
    cutter = LineCutter(most=10)
    found = cutter.take(b'{"a": "b"}\n{"a": "bc"}\n' * 2)
    assert [isinstance(each, JsonLine) for each in found] == [True, False] * 2


def test_whole_characters_stay_as_they_are() -> None:
    assert read(LineCutter(), b'{"a": "\\u00e9 \\\\ud83d"}\n') == [{"a": "é \\ud83d"}]
