"""Patches as git makes them, in windows: rows of any window are those of the whole."""

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.record.recording.recorded_patches import MARK_EVERY, FilePart, Row, parts_of, rows_of
from siding.record.recording.step_details import Span


def made(directory: Path, before: dict[str, bytes], after: dict[str, bytes]) -> Span:
    """Return the patch between two trees, made by git."""
    for name, files in (("a", before), ("b", after)):
        for path, data in files.items():
            place = directory / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        (directory / name).mkdir(exist_ok=True)
    done = subprocess.run(
        ["git", "-c", "core.quotePath=true", "diff", "--no-index", "--binary", "-M", "a", "b"],
        cwd=directory,
        capture_output=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "HOME": str(directory), "GIT_CONFIG_NOSYSTEM": "1"},
    )
    assert done.returncode in (0, 1), done.stderr
    patch = directory / "0001.patch"
    patch.write_bytes(done.stdout)
    return Span(path=patch, offset=0, size=len(done.stdout))


def all_rows(span: Span, part: FilePart) -> list[Row]:
    return rows_of(span, part, 0, part.rows)


def test_files_names_and_counts(tmp_path: Path) -> None:
    before = {
        "same.py": b"a\n",
        "gone.txt": b"x\ny\n",
        "long name.txt": b"1\n2\n3\n",
        "bin": b"\0\1",
    }
    after = {
        "same.py": b"b\nc\n",
        "new.txt": b"",
        "länger.txt": b"1\n2\n3\n",
        "bin": b"\0\2",
        "tab\there": b"x",
    }
    parts = {part.name: part for part in parts_of(made(tmp_path, before, after))}
    by_end = {name.rpartition("/")[2]: part for name, part in parts.items()}
    assert (by_end["same.py"].additions, by_end["same.py"].deletions) == (2, 1)
    assert by_end["gone.txt"].status == "D"
    assert by_end["gone.txt"].deletions == 2
    assert by_end["new.txt"].status == "A"
    assert by_end["bin"].is_binary
    assert [p.status for p in parts.values() if p.old_name.endswith("long name.txt")] == ["R"]
    assert any("\\t" in name for name in parts)


def test_lines_that_look_like_headers_are_lines(tmp_path: Path) -> None:
    before = {"a.txt": b"-- x\n@@ -1 +1 @@\ndiff --git a/x b/x\n\n"}
    after = {"a.txt": b"++ y\n@@ -2 +2 @@\ndiff --git a/y b/y\nno newline"}
    span = made(tmp_path, before, after)
    (part,) = parts_of(span)
    rows = all_rows(span, part)
    assert len(rows) == part.rows
    assert [row.text for row in rows if row.kind == "add"] == [
        "++ y",
        "@@ -2 +2 @@",
        "diff --git a/y b/y",
        "no newline",
    ]
    assert rows[-1].kind == "note"


@settings(max_examples=25)
@given(
    first=st.integers(min_value=0, max_value=3000),
    count=st.integers(min_value=1, max_value=900),
)
def test_a_window_is_what_the_whole_has_there(
    tmp_path_factory: pytest.TempPathFactory, first: int, count: int
) -> None:
    span, part = _large(tmp_path_factory)
    whole = _WHOLE.setdefault("rows", all_rows(span, part))
    assert isinstance(whole, list)
    assert rows_of(span, part, first, count) == whole[first : first + count]


_WHOLE: dict[str, object] = {}


def _large(factory: pytest.TempPathFactory) -> tuple[Span, FilePart]:
    """A patch of some thousand rows in several hunks, made once."""
    if "made" not in _WHOLE:
        lines = [b"line %d\n" % number for number in range(6000)]
        changed = [
            b"changed %d\r\n" % number if number % 1000 < 300 else line
            for number, line in enumerate(lines)
        ]
        span = made(
            factory.mktemp("patch"), {"x.txt": b"".join(lines)}, {"x.txt": b"".join(changed)}
        )
        (part,) = parts_of(span)
        assert part.rows > 5 * MARK_EVERY
        assert part.additions == part.deletions == 1800
        _WHOLE["made"] = (span, part)
    found = _WHOLE["made"]
    assert isinstance(found, tuple)
    return found


def test_marks_are_no_nearer_to_each_other_than_a_window(tmp_path: Path) -> None:
    """Also where hunks are short and many: an index of them all would be as long as the patch."""
    lines = [b"line %d\n" % number for number in range(6000)]
    changed = [b"changed\n" if number % 20 == 0 else line for number, line in enumerate(lines)]
    span = made(tmp_path, {"x.txt": b"".join(lines)}, {"x.txt": b"".join(changed)})
    (part,) = parts_of(span)
    rows = [mark.row for mark in part.marks]
    assert rows[0] == 0
    assert all(after - before >= MARK_EVERY for before, after in pairwise(rows))
    assert len(rows) >= part.rows // (2 * MARK_EVERY)


def test_line_numbers_are_those_of_the_files(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    span, part = _large(tmp_path_factory)
    for row in rows_of(span, part, part.rows - 50, 50):
        if row.kind == "add":
            assert row.text == f"changed {(row.new or 0) - 1}"
        if row.kind in ("same", "delete"):
            assert row.text == f"line {(row.old or 0) - 1}"


def test_a_long_row_is_cut(tmp_path: Path) -> None:
    span = made(tmp_path, {"a": b"x" * 10_000 + b"\n"}, {"a": b"y\n"})
    (part,) = parts_of(span)
    assert [row.more > 0 for row in all_rows(span, part)] == [False, True, False]
