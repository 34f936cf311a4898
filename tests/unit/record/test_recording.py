"""A step is recorded once, wherever its recording is cut off."""

from collections.abc import Iterator
from contextlib import contextmanager

from integration.undo.desk import Desk
from siding.ground.process.identity import boot_id
from siding.ground.storage.locks import Holder
from siding.record.ledger.draft import Draft
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.place.locks import holding_task
from siding.record.recording.opening import open_recorder
from siding.record.recording.recorder import OUTSIDE, WHILE_RUNNING, Recorder
from siding.record.runs.live_run import RunRecords
from siding.record.runs.run import ProcessMark, Run

DRAFT = Draft(CheckpointDetail("so far", "asked"))


@contextmanager
def recorder_of(desk: Desk, *, beside_runs: bool = False) -> Iterator[Recorder]:
    with holding_task(desk.project, desk.task.id, "a test", beside_runs=beside_runs) as hold:
        task = desk.project.tasks.load(desk.task.id)
        yield open_recorder(desk.project, task, hold)


def test_a_step_whose_line_was_written_is_not_recorded_again(desk: Desk) -> None:
    """Cut off after the ledger line, before its intent went away."""
    desk.write("new", "new\n")
    with recorder_of(desk) as recorder:
        intent = recorder.begin(DRAFT)
        path = recorder.intents.path(intent)
        document = path.read_bytes()
        step = recorder.finish(intent, intent.draft.completed())
    path.write_bytes(document)
    with recorder_of(desk) as recorder:
        assert recorder.settle() == []
    assert recorder.intents.all() == []
    assert [each.id for each in desk.steps()] == [step.id]


def test_a_step_whose_line_was_not_written_is_recorded_with_what_it_left(desk: Desk) -> None:
    with recorder_of(desk) as recorder:
        intent = recorder.begin(DRAFT)
    desk.write("new", "new\n")
    with recorder_of(desk) as recorder:
        (step,) = recorder.settle()
        assert recorder.settle() == []
    assert recorder.intents.all() == []
    assert (step.number, step.status, step.act) == (intent.number, "interrupted", intent.act)
    assert step.diff_stat.files == 1
    assert [each.id for each in desk.steps()] == [step.id]


def test_settling_records_what_changed_outside_and_nothing_else(desk: Desk) -> None:
    with recorder_of(desk) as recorder:
        assert recorder.settle() == []
        desk.write("new", "new\n")
        (step,) = recorder.settle()
        assert recorder.settle() == []
    assert (step.kind, step.number, step.status) == ("checkpoint", 1, "completed")
    assert step.detail == CheckpointDetail(OUTSIDE, "outside")
    assert [each.id for each in desk.steps()] == [step.id]


def test_what_changed_while_a_run_lives_is_said_to_be_most_likely_its(
    desk: Desk,
) -> None:
    host = ProcessMark(1 << 30, 0)  # no process that is above this one
    run = Run(0, "2026-01-01T00:00:00Z", ("make",), ".", token="t", boot=boot_id(), host=host)
    runs = RunRecords(desk.project.task_layout(desk.task.id))
    holder = Holder(pid=host.pid, since="", what="run")
    begun = runs.begin(run, holder, highest=lambda: 0)
    with begun, recorder_of(desk, beside_runs=True) as recorder:
        assert recorder.settle() == []
        desk.write("new", "new\n")
        (step,) = recorder.settle()
        desk.write("new", "newer\n")
        (named,) = recorder.settle("said by a person")
    assert isinstance(step.detail, CheckpointDetail)
    assert (step.detail.message, step.detail.origin) == (WHILE_RUNNING, "running")
    assert isinstance(named.detail, CheckpointDetail)
    assert (named.detail.message, named.detail.origin) == ("said by a person", "outside")
