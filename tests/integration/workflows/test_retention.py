"""Which runs of workflows go into the trash, by themselves and by hand; what keeps a task open."""

import os
import threading
from pathlib import Path

import pytest

from integration.workflows.conftest import AtWork
from siding.ground.errors import UsageError
from siding.record.unfinished.leftovers import free_workflow_trash
from siding.record.unfinished.live_workflows import live_workflows
from siding.workflows.acts import retention
from siding.workflows.acts.retention import remove_run, sweep
from siding.workflows.agents.settings import workflow_agents
from siding.workflows.errors import RunIsLive, WorkflowNotFound
from siding.workflows.events import AgentStarted, Event
from siding.workflows.state import RunState
from siding.workflows.store import RunFolders

OK = {"*": "did <prompt>"}
SLOW = {"*": [{"kind": "ok", "output": "slow", "tokens": 1, "delay_ms": 60_000}]}


def _keep(work: AtWork, count: object) -> None:
    path = work.project().layout.config_yaml
    path.write_text(f"workflows:\n  keep_runs: {count}\n")


def _ids(work: AtWork) -> set[str]:
    return {folder.run_id for folder in RunFolders.of(work.project()).all()}


def _ended(work: AtWork) -> str:
    prepared = work.prepare("return 1")
    work.carry_out(prepared, OK)
    return prepared.folder.run_id


def test_the_oldest_ended_runs_go_and_interrupted_ones_stay(work: AtWork) -> None:
    interrupted = work.prepare("return 1").folder.run_id  # it never began: it can be resumed
    runs = [_ended(work) for _ in range(3)]
    _keep(work, 2)
    last = _ended(work)
    assert _ids(work) == {interrupted, runs[2], last}
    project = work.project()
    assert free_workflow_trash(project, 3600, dry_run=False) == 0  # not old enough
    assert free_workflow_trash(project, None, dry_run=True) > 0
    assert free_workflow_trash(project, None, dry_run=False) > 0
    assert free_workflow_trash(project, None, dry_run=True) == 0


def test_a_number_that_is_none_is_named(work: AtWork) -> None:
    _keep(work, "many")
    swept = sweep(work.project())
    assert "workflows.keep_runs" in swept.failed
    with pytest.raises(UsageError, match="keep_runs"):
        workflow_agents(work.project())


def test_a_run_that_waits_for_an_answer_stays(
    work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = _ended(work)
    _keep(work, 0)
    monkeypatch.setattr(retention, "asking", lambda _project: {run_id})
    assert sweep(work.project()).gone == ()
    with pytest.raises(retention.RunWaits):
        remove_run(work.project(), run_id)
    monkeypatch.undo()
    assert sweep(work.project()).gone == (run_id,)


def test_a_run_that_is_resumed_while_the_sweep_runs_stays(
    work: AtWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _ended(work), _ended(work)
    _keep(work, 0)
    found = retention._beyond

    def begun(*arguments: object) -> object:
        chosen = list(found(*arguments))  # type: ignore[arg-type]
        lock.append(work.again(first).folder.take(retention._holder(work.project())))
        started.append(work.prepare("return 2").folder.run_id)  # a new one: it has no state yet
        return chosen

    lock: list[object] = []
    started: list[str] = []
    monkeypatch.setattr(retention, "_beyond", begun)
    assert sweep(work.project()).gone == (second,)
    assert _ids(work) == {first, started[0]}


def test_a_run_that_was_removed_cannot_be_resumed(work: AtWork) -> None:
    prepared = work.again(_ended(work))
    place = Path(remove_run(work.project(), prepared.folder.run_id))
    assert (place / "run.json").exists()
    with pytest.raises(WorkflowNotFound, match="was removed"):
        work.carry_out(prepared, OK)


def test_a_live_run_is_not_removed_and_keeps_its_task_open(work: AtWork) -> None:
    _keep(work, 0)
    prepared = work.prepare("return await agent('one')")
    seen: list[str] = []

    def listen(event: Event, _state: RunState) -> None:
        if not isinstance(event, AgentStarted):
            return
        with pytest.raises(RunIsLive):
            remove_run(work.project(), prepared.folder.run_id)
        assert sweep(work.project()).gone == ()
        sandbox = work.sandbox
        seen.append(sandbox.siding("task", "close", "flows", status=None).stderr.decode())
        seen.append(sandbox.siding("worktree", "remove", "flows", status=None).stderr.decode())
        seen.append(sandbox.siding("status", "-t", "flows").stdout.decode())
        seen.append(sandbox.siding("runs").stderr.decode())
        closing.start()

    def close() -> None:
        told = work.sandbox.siding("task", "close", "flows", "--stop", "--force")
        closed.append(told.stderr.decode())

    closed: list[str] = []
    closing = threading.Thread(target=close)
    done = work.carry_out(prepared, SLOW, listen)
    closing.join()
    assert done.status == "killed"
    assert all(prepared.folder.run_id in text for text in seen), seen
    assert "siding workflow kill" in seen[0]
    assert "ended the workflow" in closed[0]
    assert list(live_workflows(work.project())) == []


def test_the_doctor_names_damaged_journals_and_half_made_folders(work: AtWork) -> None:
    prepared = work.prepare("return await agent('one')")
    work.carry_out(prepared, OK)
    journal = prepared.folder.journal
    journal.write_bytes(b"no json\n" + journal.read_bytes())
    half = prepared.folder.root.parent / "whalfmade"
    half.mkdir()
    os.utime(half, (1, 1))
    told = work.sandbox.siding("doctor", "--check", status=None)
    text = (told.stdout + told.stderr).decode()
    assert f"journal of the run {prepared.folder.run_id}" in text
    assert "whalfmade" in text
