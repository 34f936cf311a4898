"""The documents of a task's phases, as they are recorded and put back."""

from pathlib import Path

from siding.record.phases.documents import put_documents, read_documents


def test_one_that_is_too_large_is_neither_recorded_cut_off_nor_taken_away(tmp_path: Path) -> None:
    small, large = tmp_path / "flow-status.json", tmp_path / "flow-status.1.json"
    small.write_bytes(b"{}")
    with large.open("wb") as file:
        file.truncate((16 << 20) + 1)
    assert read_documents(tmp_path) == {small.name: b"{}"}
    put_documents(tmp_path, {small.name: b"[]"})
    assert small.read_bytes() == b"[]"
    assert large.stat().st_size == (16 << 20) + 1
