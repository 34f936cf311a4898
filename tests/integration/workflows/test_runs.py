"""A run of a workflow in a project: its files, its state, what may be done to it from outside."""

import json
import os
import signal
import stat
import threading
import time
from pathlib import Path

import pytest

from integration.workflows.conftest import AtWork
from sandbox import Sandbox
from siding.asking.answer import answer
from siding.asking.decisions.record import Via
from siding.asking.lookup import list_decisions
from siding.workflows.acts.control import request
from siding.workflows.acts.request import WorkflowOptions
from siding.workflows.acts.trust import NotTrusted, trust
from siding.workflows.acts.views import run_view, run_views
from siding.workflows.engine.plan import chosen_agents
from siding.workflows.errors import RunIsLive, ScriptError, WorkflowNotFound
from siding.workflows.events import AgentStarted, Asked, Event
from siding.workflows.state import RunState, RunStatus
from siding.workflows.store import RunFolders

OK = {"*": "did <prompt>"}
SLOW = {"*": [{"kind": "ok", "output": "slow", "tokens": 1, "delay_ms": 60_000}]}


def test_a_run_has_files_that_only_its_owner_reads(work: AtWork) -> None:
    prepared = work.prepare("phase('A')\nreturn [await agent('one', label='first'), args]", args=7)
    done = work.carry_out(prepared, OK)
    assert done.value == ["did one", 7]
    folder = prepared.folder
    state = json.loads(folder.state_json.read_text())
    assert state["schemaVersion"] == 1
    run = state["run"]
    assert (run["status"], run["returnValue"]) == ("completed", ["did one", 7])
    assert run["agents"][0]["label"] == "first"
    assert run["phases"] == [{"title": "A", "status": "done"}]
    types = [json.loads(line)["type"] for line in folder.log.read_text().splitlines()]
    assert types[0] == "run_started"
    assert types[-1] == "run_done"
    for file in folder.root.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file
    assert not folder.socket.exists()


def test_a_run_is_found_by_the_beginning_of_its_id_and_as_the_last(work: AtWork) -> None:
    first = work.prepare("return 1").folder.run_id
    second = work.prepare("return 2").folder.run_id
    for run_id in (first, second):
        work.carry_out(work.again(run_id), OK)
    assert run_view(work.project(), first[:6]).state.run_id == first
    assert run_view(work.project(), "last").state.run_id == second
    assert [view.state.run_id for view in run_views(work.project())] == [second, first]
    with pytest.raises(WorkflowNotFound):
        run_view(work.project(), "wnothere")


def test_a_question_goes_to_the_inbox_and_its_answer_to_the_script(work: AtWork) -> None:
    script = "return await ask('Which?', options=['a', 'b'], context='Choose.')"

    def reply(event: Event, _state: RunState) -> None:
        if isinstance(event, Asked) and not event.is_answered:
            threading.Thread(target=_answer_when_asked, args=(work, "b")).start()

    done = work.carry_out(work.prepare(script), OK, reply)
    assert done.value == "b"


def _answer_when_asked(work: AtWork, chosen: str) -> None:
    project = work.project()
    while not (found := list_decisions(project)[0]):
        time.sleep(0.02)
    (waiting,) = found
    assert waiting.items[0].title == "Which?"
    answer(project, waiting.session_id, [{"id": 1, "chosen": chosen}], via=Via.TERMINAL)


def test_a_run_is_killed_from_outside(work: AtWork) -> None:
    prepared = work.prepare("return await agent('x')")

    def kill(event: Event, _state: RunState) -> None:
        if isinstance(event, AgentStarted):
            threading.Thread(target=request, args=(prepared.folder, "kill")).start()

    done = work.carry_out(prepared, SLOW, kill)
    assert done.status == "killed"
    assert run_view(work.project(), prepared.folder.run_id).state.status is RunStatus.KILLED
    with pytest.raises(WorkflowNotFound, match="no process works"):
        request(prepared.folder, "kill")


def test_an_agent_is_skipped_or_killed_from_outside(work: AtWork) -> None:
    prepared = work.prepare("return await parallel([lambda: agent('x'), lambda: agent('y')])")

    def control(event: Event, _state: RunState) -> None:
        if isinstance(event, AgentStarted):
            do = "skip" if event.id == 0 else "kill"
            threading.Thread(target=request, args=(prepared.folder, do, event.id)).start()

    done = work.carry_out(prepared, SLOW, control)
    assert done.value == [None, None]
    agents = run_view(work.project(), "last").state.agents
    assert [(agent.result, agent.reason) for agent in agents] == [
        ("skipped", ""),
        ("dead", "killed"),
    ]


def test_one_process_works_on_a_run(work: AtWork) -> None:
    prepared = work.prepare("return await agent('x')")
    refused: list[BaseException] = []

    def second(event: Event, _state: RunState) -> None:
        if isinstance(event, AgentStarted) and not refused:
            try:
                work.carry_out(work.again(prepared.folder.run_id), OK)
            except RunIsLive as error:
                refused.append(error)
            threading.Thread(target=request, args=(prepared.folder, "kill")).start()

    work.carry_out(prepared, SLOW, second)
    assert len(refused) == 1


def test_a_run_whose_process_was_killed_is_interrupted_and_goes_on(work: AtWork) -> None:
    script = "return [await agent('a'), await agent('b')]"
    prepared = work.prepare(script)
    agents = {"a": "did <prompt>", "*": SLOW["*"]}
    pid = os.fork()
    if pid == 0:
        try:
            work.carry_out(prepared, agents)
        finally:
            os._exit(1)
    _await(lambda: _running(work, prepared.folder.run_id) == 2)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    view = run_view(work.project(), prepared.folder.run_id)
    assert view.state.status is RunStatus.INTERRUPTED
    work.events.clear()
    done = work.carry_out(work.again(prepared.folder.run_id), OK)
    assert done.value == ["did a", "did b"]
    assert done.resume is not None
    assert (done.resume.replayed, done.resume.live) == (1, 1)
    assert [event.id for event in work.events if isinstance(event, AgentStarted)] == [1]


def _running(work: AtWork, run_id: str) -> int:
    return len(run_view(work.project(), run_id).state.agents)


def _await(is_so: "object") -> None:
    assert callable(is_so)
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_chosen_agents_run_again(work: AtWork) -> None:
    prepared = work.prepare("return [await agent('a'), await agent('b')]")
    work.carry_out(prepared, OK)
    policy = chosen_agents([1])
    done = work.carry_out(work.again(prepared.folder.run_id, policy=policy), {"*": "new <prompt>"})
    assert done.value == ["did a", "new b"]


def test_a_run_is_resumed_with_another_budget(work: AtWork) -> None:
    options = WorkflowOptions(tokens=1)
    prepared = work.prepare("return [await agent(x) for x in 'abcd']", options=options)
    run_id = prepared.folder.run_id
    assert "the budget is spent: 1 of 1 tokens" in work.carry_out(prepared, OK).error
    more = work.again(run_id, tokens=4)
    assert work.carry_out(more, OK).value == ["did a", "did b", "did c", "did d"]
    assert work.again(run_id).options.tokens == 4


def test_an_edited_script_takes_the_place_of_the_old_one(work: AtWork) -> None:
    prepared = work.prepare("return [await agent('a'), await agent('b')]")
    work.carry_out(prepared, OK)
    edited = "return [await agent('a'), await agent('c')]"
    done = work.carry_out(work.again(prepared.folder.run_id, source=edited), {"*": "new <prompt>"})
    assert done.value == ["did a", "new c"]
    assert prepared.folder.source() == edited


def test_a_script_of_the_repository_runs_when_a_person_has_allowed_it(work: AtWork) -> None:
    path = work.sandbox.repo / ".siding/workflows/mine.py"
    path.parent.mkdir(parents=True)
    path.write_text("return 1")
    with pytest.raises(NotTrusted):
        work.prepare_named("mine")
    project = work.project()
    with pytest.raises(NotTrusted) as refused:
        work.prepare_named("mine")
    trust(project, refused.value.found)
    assert work.carry_out(work.prepare_named("mine"), OK).value == 1
    path.write_text("return 2")
    with pytest.raises(NotTrusted):
        work.prepare_named("mine")


def test_a_script_that_a_script_calls_needs_trust_as_well(work: AtWork) -> None:
    path = work.sandbox.repo / ".siding/workflows/mine.py"
    path.parent.mkdir(parents=True)
    path.write_text("return 1")
    for called in ("'mine'", "script_path='.siding/workflows/mine.py'"):
        with pytest.raises(NotTrusted):  # before an agent is paid for
            work.prepare(f"await agent('x')\nreturn await workflow({called})")
    calls_it = "name = 'mi' + 'ne'\nawait agent('x')\nreturn await workflow(name)"
    prepared = work.prepare(calls_it)
    done = work.carry_out(prepared, OK)
    assert done.status == "failed"
    assert "nobody has allowed it" in done.error
    edited = calls_it.replace("'mi' + 'ne'", "''").replace("workflow(name)", "workflow('mine')")
    again = ("workflow", "resume", prepared.folder.run_id, "--script", "edited.py")
    (work.sandbox.repo / "edited.py").write_text(edited)
    refused = work.sandbox.siding(*again, status=1).stderr.decode()
    assert "nobody has allowed it" in refused
    assert json.loads(work.sandbox.siding(*again, "--trust").stdout) == 1


def test_secrets_are_not_in_what_is_shown_of_a_run(work: AtWork, sandbox: Sandbox) -> None:
    key = "ghp_" + "a1B2" * 9
    prepared = work.prepare(f"log('key {key}')\nreturn await agent('use {key}')")
    work.carry_out(prepared, {"*": "done"})
    shown = prepared.folder.state_json.read_text() + prepared.folder.log.read_text()
    assert key not in shown
    assert "[redacted:" in shown


def test_a_bad_script_makes_no_run(work: AtWork, tmp_path: Path) -> None:
    with pytest.raises(ScriptError):
        work.prepare("import os\nreturn 1")
    assert RunFolders.of(work.project()).all() == []


def test_events_of_the_project_tell_of_runs(work: AtWork) -> None:
    work.run("return 1", OK)
    events = (work.sandbox.project / "events.jsonl").read_text()
    names = [json.loads(line)["event"] for line in events.splitlines()]
    assert [name for name in names if name.startswith("workflow.")] == [
        "workflow.started",
        "workflow.completed",
    ]
