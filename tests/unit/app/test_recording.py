"""A step is recorded once, wherever its recording is cut off."""

from collections.abc import Iterator
from contextlib import contextmanager

from integration.undo.desk import Desk
from siding.app.locking import holding_task
from siding.app.recording import Recorder, open_recorder
from siding.ledger.details.checkpoint import CheckpointDetail
from siding.ledger.draft import Draft

DRAFT = Draft(CheckpointDetail("so far", "asked"))


@contextmanager
def recorder_of(desk: Desk) -> Iterator[Recorder]:
    with holding_task(desk.project, desk.task.id, "a test") as lock:
        task = desk.project.tasks.load(desk.task.id)
        yield open_recorder(desk.project, task, lock)


def test_a_step_whose_line_was_written_is_not_recorded_again(desk: Desk) -> None:
    """Cut off after the ledger line, before its intent went away."""
    desk.write("new", "new\n")
    with recorder_of(desk) as recorder:
        running = recorder.begin(DRAFT)
        intent = recorder.layout.running_json.read_bytes()
        step = recorder.finish(running, running.draft.completed())
    recorder.layout.running_json.write_bytes(intent)
    with recorder_of(desk) as recorder:
        assert recorder.settle() == []
    assert not recorder.layout.running_json.exists()
    assert [each.id for each in desk.steps()] == [step.id]


def test_a_step_whose_line_was_not_written_is_recorded_with_what_it_left(desk: Desk) -> None:
    with recorder_of(desk) as recorder:
        running = recorder.begin(DRAFT)
    desk.write("new", "new\n")
    with recorder_of(desk) as recorder:
        (step,) = recorder.settle()
        assert recorder.settle() == []
    assert not recorder.layout.running_json.exists()
    assert (step.number, step.status) == (running.number, "interrupted")
    assert step.diff_stat.files == 1
    assert [each.id for each in desk.steps()] == [step.id]


def test_settling_records_what_changed_outside_and_nothing_else(desk: Desk) -> None:
    with recorder_of(desk) as recorder:
        assert recorder.settle() == []
        desk.write("new", "new\n")
        (step,) = recorder.settle()
        assert recorder.settle() == []
    assert (step.kind, step.number, step.status) == ("checkpoint", 1, "completed")
    assert [each.id for each in desk.steps()] == [step.id]
