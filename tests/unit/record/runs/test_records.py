"""Which runs live, which were cut off, and that no number is used twice."""

import os
from pathlib import Path

import pytest

from privileges import bound_by_permissions
from siding.ground.process.identity import boot_id, started_of
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import Holder
from siding.record.runs.left import LeftFiles
from siding.record.runs.live_run import LiveRun, RunRecords
from siding.record.runs.paused import PausedFile
from siding.record.runs.run import ProcessMark, Run
from siding.record.runs.store import is_at_work

HOLDER = Holder(pid=os.getpid(), since="2026-01-01T00:00:00Z", what="make")


@pytest.fixture
def layout(tmp_path: Path) -> TaskLayout:
    return TaskLayout(tmp_path)


def begin(layout: TaskLayout, *, highest: int = 0) -> LiveRun:
    run = Run(
        number=0,
        started_at="2026-01-01T00:00:00Z",
        cmd=("make", "all"),
        cwd=".",
        token="t",
        boot=boot_id(),
        host=ProcessMark(os.getpid(), started_of()),
    )
    return RunRecords(layout).begin(run, HOLDER, highest=lambda: highest)


def cut_off(layout: TaskLayout) -> None:
    """Leave what a run leaves whose host was killed."""
    with begin(layout) as live:
        live.run = live.run._replace(host=ProcessMark(os.getpid(), 5))
        live.started(ProcessMark(), ProcessMark())


def replaced_by_a_directory(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "kept").write_bytes(b"somebody's")


def names(layout: TaskLayout) -> set[str]:
    return set(os.listdir(layout.runs_dir))


def ids(runs: list[Run]) -> list[str]:
    return [run.id for run in runs]


def test_without_the_directory_nothing_lives(layout: TaskLayout) -> None:
    assert RunRecords(layout).live() == RunRecords(layout).cut_off() == []
    assert not is_at_work(layout)


def test_a_run_lives_while_its_host_does(layout: TaskLayout) -> None:
    with begin(layout) as first, begin(layout) as second:
        assert ids(RunRecords(layout).live()) == ["r1", "r2"]
        assert is_at_work(layout)
        first.end()
        assert ids(RunRecords(layout).live()) == ["r2"]
        assert second.run.id == "r2"
    assert RunRecords(layout).live() == []
    assert ids(RunRecords(layout).cut_off()) == ["r2"]


def test_the_process_of_the_command_is_written_down(layout: TaskLayout) -> None:
    with begin(layout) as live:
        assert RunRecords(layout).live()[0].command == ProcessMark()
        live.started(ProcessMark(77, 1234), ProcessMark(76, 1233))
        assert RunRecords(layout).live() == [live.run]
        assert live.run.command == ProcessMark(77, 1234)
        assert live.run.keeper == ProcessMark(76, 1233)


def test_no_number_is_used_twice(layout: TaskLayout) -> None:
    with begin(layout) as first:
        first.end()
    with begin(layout) as second:
        assert second.run.id == "r2"
    with begin(layout) as third:  # the second one was cut off
        assert third.run.id == "r3"


@pytest.mark.parametrize("damage", [None, b"", b"x\n", b"\xff", b"-4\n"])
def test_a_lost_number_is_taken_from_the_ledger(layout: TaskLayout, damage: bytes | None) -> None:
    with begin(layout) as first:
        first.end()
    last = layout.runs_dir / "last"
    last.unlink()
    if damage is not None:
        last.write_bytes(damage)
    with begin(layout, highest=41) as live:
        assert live.run.id == "r42"


@pytest.mark.parametrize("damage", [b"9999999999\n", b"9" * 64])
def test_a_number_that_no_id_can_have_is_damage_too(layout: TaskLayout, damage: bytes) -> None:
    with begin(layout):
        (layout.runs_dir / "last").write_bytes(damage)
        with begin(layout) as second:
            assert ids(RunRecords(layout).live()) == ["r1", second.run.id] == ["r1", "r2"]


def test_the_numbers_of_runs_that_live_count_when_the_last_one_is_lost(layout: TaskLayout) -> None:
    with begin(layout, highest=8), begin(layout):
        (layout.runs_dir / "last").unlink()
        with begin(layout) as live:
            assert live.run.id == "r11"


def test_a_run_that_was_cut_off_is_forgotten_with_all_its_files(layout: TaskLayout) -> None:
    with begin(layout):
        pass
    (layout.runs_dir / "r1.json.new").write_bytes(b"{")
    runs = RunRecords(layout)
    assert runs.forget(runs.cut_off()[0])
    assert sorted(os.listdir(layout.runs_dir)) == ["last"]


def test_a_run_that_lives_is_not_forgotten(layout: TaskLayout) -> None:
    with begin(layout) as live:
        assert not RunRecords(layout).forget(live.run)
        assert ids(RunRecords(layout).live()) == ["r1"]


def test_a_record_that_cannot_be_read_is_a_run_that_was_cut_off(layout: TaskLayout) -> None:
    with begin(layout):
        pass
    (layout.runs_dir / "r1.json").write_bytes(b"")
    (layout.runs_dir / "junk.json").write_bytes(b"{}")
    assert ids(RunRecords(layout).cut_off()) == ["r1"]
    assert RunRecords(layout).cut_off()[0].token == ""


def test_waiting_for_a_run_that_has_ended_leaves_nothing_behind(layout: TaskLayout) -> None:
    with begin(layout) as live:
        run = live.run
        live.end()
    RunRecords(layout).wait(run)
    assert sorted(os.listdir(layout.runs_dir)) == ["last"]


@pytest.mark.parametrize("suffix", [".json", ".json.new", ".sock", ".fate", ".lock"])
def test_a_directory_in_the_place_of_a_file_is_set_aside(layout: TaskLayout, suffix: str) -> None:
    cut_off(layout)
    replaced_by_a_directory(layout.runs_dir / f"r1{suffix}")
    runs = RunRecords(layout)
    (run,) = runs.cut_off()
    assert runs.forget(run)
    assert names(layout) == {"last", f"r1{suffix}.damaged-1"}
    assert (layout.runs_dir / f"r1{suffix}.damaged-1/kept").read_bytes() == b"somebody's"
    assert runs.live() == runs.cut_off() == []


@pytest.mark.parametrize("name", ["last", "last.new"])
def test_a_directory_in_the_place_of_the_newest_number_is_set_aside(
    layout: TaskLayout, name: str
) -> None:
    with begin(layout) as first:
        first.end()
    for turn in (1, 2):
        replaced_by_a_directory(layout.runs_dir / name)
        with begin(layout, highest=turn) as live:
            assert live.run.id == f"r{turn + 1}"
            live.end()
    assert names(layout) == {"last", f"{name}.damaged-1", f"{name}.damaged-2"}


def test_a_run_lives_if_its_processes_do_and_its_lock_cannot_be_opened(layout: TaskLayout) -> None:
    with begin(layout) as live:
        replaced_by_a_directory(layout.runs_dir / "r1.lock")
        assert ids(RunRecords(layout).live()) == ["r1"]
        assert not RunRecords(layout).forget(live.run)
        live.run = live.run._replace(host=ProcessMark(os.getpid(), 5))
        live.started(ProcessMark(), ProcessMark())
        assert ids(RunRecords(layout).cut_off()) == ["r1"]
        RunRecords(layout).wait(live.run)
        assert RunRecords(layout).forget(live.run)


def test_what_stands_in_the_way_of_the_other_files_is_set_aside(layout: TaskLayout) -> None:
    with begin(layout):
        paused, left = layout.runs_dir / "paused", layout.runs_dir / "r5.left"
        for path in (paused, left):
            replaced_by_a_directory(path)
        file = PausedFile(layout)
        file.begin("b")
        file.note(7, 8)
        assert file.read("b") == [ProcessMark(7, 8)]
        file.remove()
        LeftFiles(layout).remove(5)
        assert {"paused.damaged-1", "r5.left.damaged-1"} < names(layout)
        assert not names(layout) & {"paused", "r5.left"}
        assert LeftFiles(layout).numbers() == []


@pytest.mark.parametrize("name", ["r1.json", "r1.lock", "r1.fate", "last"])
def test_what_nobody_may_read_stops_nothing(layout: TaskLayout, name: str) -> None:
    cut_off(layout)
    path = layout.runs_dir / name
    path.touch()
    path.chmod(0)

    def act() -> list[str]:
        runs = RunRecords(layout)
        (run,) = runs.cut_off()
        assert runs.forget(run)
        with begin(layout, highest=1) as live:
            return ids([run, live.run])

    assert bound_by_permissions(act) == ["r1", "r2"]
