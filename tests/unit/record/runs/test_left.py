"""The documents that name what runs left running: written, read, and what damage does to them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.ground.storage.layout import TaskLayout
from siding.record.runs.left import LeftFiles, LeftMark, LeftRunning, shortened
from siding.record.runs.run import ProcessMark

LEFT = LeftRunning(
    number=7,
    started_at="2026-01-01T00:00:00Z",
    ended_at="2026-01-01T00:01:00Z",
    cmd=("sh", "-c", "node server.js &"),
    name="web",
    token="t",
    boot="b",
    processes=(LeftMark(ProcessMark(77, 1234), ("node", "server.js")),),
)


@pytest.fixture
def layout(tmp_path: Path) -> TaskLayout:
    layout = TaskLayout(tmp_path)
    layout.runs_dir.mkdir()
    return layout


def test_a_document_is_read_as_it_was_written(layout: TaskLayout) -> None:
    files = LeftFiles(layout)
    files.write(LEFT)
    assert files.numbers() == [7]
    assert files.read(7) == LEFT
    assert sorted(path.name for path in layout.runs_dir.iterdir()) == ["r7.left"]
    files.remove(7)
    files.remove(7)
    assert (files.numbers(), files.read(7)) == ([], None)


def test_without_the_directory_there_is_none(tmp_path: Path) -> None:
    files = LeftFiles(TaskLayout(tmp_path))
    files.write(LEFT)
    assert (files.numbers(), files.read(7)) == ([], None)


def test_other_files_are_no_documents(layout: TaskLayout) -> None:
    for name in ("last", "r7.json", "r7.left.new", "x.left", "r.left", ".left"):
        (layout.runs_dir / name).touch()
    assert LeftFiles(layout).numbers() == []


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"\xff", b'{"version": 1}'])
def test_what_is_damaged_names_no_process(layout: TaskLayout, raw: bytes) -> None:
    (layout.runs_dir / "r7.left").write_bytes(raw)
    found = LeftFiles(layout).read(7)
    assert found is not None
    assert (found.id, found.boot, found.processes) == ("r7", "", ())


def test_what_a_later_version_wrote_is_not_read(layout: TaskLayout) -> None:
    document = {**LEFT.as_record(), "version": 2}
    (layout.runs_dir / "r7.left").write_text(json.dumps(document))
    assert LeftFiles(layout).read(7) is None


@given(st.lists(st.text(max_size=300), max_size=30))
def test_a_command_line_is_shortened_from_the_end(words: list[str]) -> None:
    short = shortened(words)
    assert sum(map(len, short)) <= 210
    for word, kept in zip(words, short, strict=False):
        assert (
            kept == word or kept == "..." or (kept.endswith("...") and word.startswith(kept[:-3]))
        )
    if len(" ".join(words)) <= 200:
        assert list(short) == words
