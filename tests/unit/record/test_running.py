"""A run in this process: what it is put together of, with a step and without one."""

import pytest

from integration.undo.desk import Desk
from siding.ground.process.command import Command, StdinPlan
from siding.record.acts.skeleton import Work
from siding.record.runs.reported import Reported, read_reported, write_reported
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.running import agent_turn, plan
from siding.running.request import Reporting, RunRequest, Terminal
from siding.running.run import run
from siding.sandbox.sandbox import SandboxPlan

NOTE = "it goes on with a copy of the conversation"


@pytest.mark.parametrize("record", [True, False])
def test_its_agent_reports_and_is_heard_to_the_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, record: bool
) -> None:
    """Other commands see the run while it lives. A turn that was under way has a step, too."""

    def reporting_of(*given: Work | RunRequest | Command | SandboxPlan) -> Reporting:
        script = 'echo "$RUN_AS $SIDING_RUN_ID" >told.txt'
        env = {"RUN_AS": "told"}
        return Reporting(("sh", "-c", script), "off", note=NOTE, env=env, copy_of="old")

    layout = desk.project.task_layout(desk.task.id)
    runs = Runs(layout)
    lived: list[list[str]] = []

    def look(_task: Task, run: Run) -> None:
        lived.append([run.id, *(each.id for each in runs.live())])
        begun = read_reported(layout, run.id)
        assert begun == (Reported(copy_of="old") if record else None)
        under_way = Reported(session="s", prompts=1, prompt="Half of it", in_turn=True)
        write_reported(layout, run.id, under_way)

    ended: list[str] = []
    monkeypatch.setattr(plan, "reporting_of", reporting_of)
    monkeypatch.setattr(agent_turn, "end_questions", lambda _all, _task, run: ended.append(run))
    request = RunRequest(argv=("sh", "-c", "exit 9"), task=desk.task.id, record=record)
    terminal = Terminal(stdin=StdinPlan.NULL, pty=False, out=None, err=None)
    ran = run(desk.project, request, terminal, on_running=look)
    assert ran.outcome is not None
    assert (ran.exit_code, ran.outcome.notes) == (0, (NOTE,))
    assert (ran.step is not None) is record
    assert desk.read("told.txt") == b"told r1\n"
    assert (lived, runs.live()) == ([["r1", "r1"]], [])
    assert ended == ["r1"], "its questions end with it"
    messages = ["Half of it", "sh -c 'exit 9'"] if record else []
    assert [each.message or each.title for each in desk.steps()] == messages
    if ran.step is not None:
        of_run = ran.step.as_run
        assert of_run is not None
        assert of_run.reported is not None
        assert of_run.reported.session == "s"
