"""Both directions give the same lines, whatever the blocks, the cap and the bytes."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.storage import lines
from siding.ground.storage.lines import Line, lines_backwards, lines_forwards

# Few different bytes, so that newlines, blank lines and long lines all occur.
CONTENT = st.lists(st.sampled_from([b"\n", b" ", b"\0", b"a", b"\r", b"\xff", b"abc"])).map(
    b"".join
)


@contextmanager
def file_of(data: bytes) -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield file.fileno()


def reference(data: bytes, cap: int, kept: int) -> list[Line]:
    """The lines as the definition says it, without blocks."""
    found: list[Line] = []
    offset = 0
    for number, piece in enumerate(_split(data), 1):
        raw = piece.removesuffix(b"\n")
        too_long = len(raw) > cap
        if too_long or raw.strip():
            found.append(
                Line(
                    number=number,
                    offset=offset,
                    end=offset + len(piece),
                    raw=raw[:kept] if too_long else raw,
                    is_closed=piece.endswith(b"\n"),
                    is_too_long=too_long,
                )
            )
        offset += len(piece)
    return found


def _split(data: bytes) -> list[bytes]:
    *closed, rest = data.split(b"\n")
    return [piece + b"\n" for piece in closed] + [rest]


@given(
    data=CONTENT,
    block=st.integers(1, 9),
    first=st.integers(1, 9),
    cap=st.integers(3, 12),
    kept=st.integers(1, 3),
)
def test_both_directions_give_the_lines_of_the_definition(
    data: bytes, block: int, first: int, cap: int, kept: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, file_of(data) as fd:
        patch.setattr(lines, "_BLOCK", block)
        patch.setattr(lines, "_FIRST_BLOCK", first)
        patch.setattr(lines, "MAX_LINE_BYTES", cap)
        patch.setattr(lines, "KEPT_OF_TOO_LONG", kept)
        expected = reference(data, cap, kept)
        assert list(lines_forwards(fd)) == expected
        numberless = [line._replace(number=None) for line in expected]
        assert list(lines_backwards(fd, len(data)))[::-1] == numberless


@given(data=CONTENT, start=st.integers(0, 60))
def test_reading_from_an_offset_gives_the_lines_that_begin_there_or_later(
    data: bytes, start: int
) -> None:
    with file_of(data) as fd:
        begun = [line for line in lines_forwards(fd) if line.offset >= start]
        later = list(lines_forwards(fd, start))
    # An offset in white space may stand after the beginning of its line: blank lines do not show.
    assert [line._replace(number=None) for line in begun] == [
        line._replace(number=None) for line in later
    ]


@given(data=CONTENT, size=st.integers(0, 100))
def test_a_file_that_has_shrunk_is_read_to_its_end(data: bytes, size: int) -> None:
    with file_of(data) as fd:
        whole = list(lines_backwards(fd, len(data)))
        assert list(lines_backwards(fd, len(data) + size)) == whole


def test_megabytes_of_empty_lines_before_the_end_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"a":1}\n' + b"\n" * (2 << 20))
    fd = os.open(path, os.O_RDONLY)
    try:
        assert [line.raw for line in lines_backwards(fd, path.stat().st_size)] == [b'{"a":1}']
        assert [line.raw for line in lines_forwards(fd)] == [b'{"a":1}']
    finally:
        os.close(fd)


@given(CONTENT)
def test_reads_may_be_short(data: bytes) -> None:
    real = os.pread
    with pytest.MonkeyPatch.context() as patch, file_of(data) as fd:
        expected = list(lines_forwards(fd))
        patch.setattr(os, "pread", lambda fd, size, at: real(fd, min(size, 3), at))
        assert list(lines_forwards(fd)) == expected
        assert [line.raw for line in lines_backwards(fd, len(data))][::-1] == [
            line.raw for line in expected
        ]
