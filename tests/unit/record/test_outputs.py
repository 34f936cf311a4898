"""The output of a run is followed over the moment in which its file gets another name."""

import pytest

from sandbox import Sandbox
from siding.record.ledger.step import Step
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.record.recording import step_details
from siding.record.recording.step_details import Output, find_run, follow, output
from siding.record.tasks.task import Task


@pytest.mark.parametrize("renamed", ["stdout", "stderr"])
def test_a_file_that_is_renamed_as_it_is_read(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, renamed: str
) -> None:
    sandbox.siding("task", "start", "followed")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo one; echo two >&2")
    project = require_project(open_app(env=sandbox.env, cwd=sandbox.repo))
    looks = []

    def meanwhile(project: Project, task: Task, found: Step) -> Output | None:
        streams = output(project, task, found)
        looks.append(streams)
        if streams is None or len(looks) > 1:
            return streams
        span = getattr(streams, renamed)
        return streams._replace(**{renamed: span._replace(path=span.path.with_name("gone"))})

    monkeypatch.setattr(step_details, "output", meanwhile)
    task, step = find_run(project, None, "last")
    pieces = [tuple(piece) for piece in follow(project, task, step)]
    assert pieces == [(1, b"one\n"), (2, b"two\n")]
    assert len(looks) > 1
