"""The file of paused processes: in order, of this boot only, and a torn line is none."""

from pathlib import Path

from siding.ground.storage.layout import TaskLayout
from siding.record.runs.paused import PausedFile
from siding.record.runs.run import ProcessMark


def a_file(tmp_path: Path) -> PausedFile:
    (tmp_path / "runs").mkdir()
    return PausedFile(TaskLayout(tmp_path))


def test_what_was_noted_comes_back_in_order(tmp_path: Path) -> None:
    file = a_file(tmp_path)
    assert not file.is_there()
    file.begin("boot")
    file.note(7, 70)
    file.note(3, 30)
    assert file.is_there()
    assert PausedFile(TaskLayout(tmp_path)).read("boot") == [ProcessMark(7, 70), ProcessMark(3, 30)]
    assert file.read("another boot") == []
    file.remove()
    assert not file.is_there()
    file.remove()


def test_a_file_that_is_begun_again_forgets_the_one_before(tmp_path: Path) -> None:
    file = a_file(tmp_path)
    file.begin("boot")
    file.note(7, 70)
    file.begin("boot")
    assert file.read("boot") == []


def test_a_torn_or_damaged_line_is_no_process(tmp_path: Path) -> None:
    file = a_file(tmp_path)
    file.begin("boot")
    file.note(7, 70)
    path = tmp_path / "runs" / "paused"
    with path.open("ab") as more:
        more.write(b'nonsense\n{"pid":-4,"started":1}\n{"pid":"9"}\n{"pid":8,"started":80')
    assert file.read("boot") == [ProcessMark(7, 70)]
    path.write_bytes(b"")
    assert file.read("boot") == []
