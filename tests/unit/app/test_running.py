"""A run in this process: what it is put together of, with a step and without one."""

import pytest

from integration.undo.desk import Desk
from siding.app.acts.skeleton import Work
from siding.app.running import plan
from siding.app.running.request import Reporting, RunRequest, Terminal
from siding.app.running.run import run
from siding.app.sandbox.sandbox import SandboxPlan
from siding.process.command import Command, StdinPlan
from siding.runs.run import Run
from siding.runs.store import Runs
from siding.tasks.task import Task

NOTE = "it goes on with a copy of the conversation"


@pytest.mark.parametrize("record", [True, False])
def test_its_agent_is_told_to_report_and_what_is_to_be_said_of_that_is_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, record: bool
) -> None:
    """Other commands see the run while it lives, and not any more when it has ended."""

    def reporting_of(*given: Work | RunRequest | Command | SandboxPlan) -> Reporting:
        script = 'echo "$RUN_AS $SIDING_RUN_ID" >told.txt'
        return Reporting(("sh", "-c", script), "off", note=NOTE, env={"RUN_AS": "told"})

    runs = Runs(desk.project.task_layout(desk.task.id))
    lived: list[list[str]] = []

    def look(_task: Task, run: Run) -> None:
        lived.append([run.id, *(each.id for each in runs.live())])

    monkeypatch.setattr(plan, "reporting_of", reporting_of)
    request = RunRequest(argv=("sh", "-c", "exit 9"), task=desk.task.id, record=record)
    terminal = Terminal(stdin=StdinPlan.NULL, pty=False, out=None, err=None)
    ran = run(desk.project, request, terminal, on_running=look)
    assert ran.outcome is not None
    assert (ran.exit_code, ran.outcome.notes) == (0, (NOTE,))
    assert (ran.step is not None) is record
    assert desk.read("told.txt") == b"told r1\n"
    assert (lived, runs.live()) == ([["r1", "r1"]], [])
