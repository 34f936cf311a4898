"""Workflows on the dashboard: what is shown and streamed, what a person may do, and how."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dashboards import Dashboard
from integration.workflows.conftest import AtWork
from sandbox import Sandbox
from siding.faces.web.workflows.following import RunFollower, RunsFollower
from siding.workflows.acts.views import run_view
from siding.workflows.outcome import Used, Work
from siding.workflows.state import AgentState, RunState, RunStatus

OK = {"*": "did <prompt>"}
SLOW = {"*": [{"kind": "ok", "output": "slow", "tokens": 1, "delay_ms": 600_000}]}
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def work(sandbox: Sandbox) -> AtWork:
    return AtWork(sandbox)


@pytest.fixture
def dashboard(work: AtWork) -> Iterator[Dashboard]:
    with Dashboard(work.sandbox) as running:
        yield running


def view(dashboard: Dashboard, path: str) -> str:
    status, body = dashboard.get(f"/view{path}")
    assert status == 200, body
    return body.decode()


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.05)


class Live:
    """A run that another process works on, with agents that do not end by themselves."""

    def __init__(self, work: AtWork, script: str, agents: int) -> None:
        prepared = work.prepare(script)
        self.run_id = prepared.folder.run_id
        self.pid = os.fork()
        if self.pid == 0:
            try:
                work.carry_out(prepared, SLOW)
            finally:
                os._exit(0)
        until(lambda: len(run_view(work.project(), self.run_id).state.agents) == agents)

    def wait(self) -> None:
        os.waitpid(self.pid, 0)
        self.pid = 0


Begin = Callable[[str, int], Live]


@pytest.fixture
def begin(work: AtWork) -> Iterator[Begin]:
    """Begin runs; what a test has not ended is killed after it."""
    begun: list[Live] = []

    def one(script: str, agents: int) -> Live:
        begun.append(Live(work, script, agents))
        return begun[-1]

    yield one
    for live in begun:
        if live.pid:
            os.kill(live.pid, signal.SIGKILL)
            live.wait()


def test_runs_and_their_agents_are_shown(work: AtWork, dashboard: Dashboard) -> None:
    assert "No workflow was run yet" in view(dashboard, "/workflows")
    dead = {"kind": "dead", "reason": "api-error", "detail": HOSTILE, "retryable": False}
    script = (
        f"phase('One')\nawait agent('a', label={HOSTILE!r})\nphase('Two')\n"
        "await agent('b')\nlog('said')\nraise ValueError('not good')"
    )
    prepared = work.prepare(script, args={"base": "main"})
    work.carry_out(prepared, {"a": "fine", "b": [dead]})
    run_id = prepared.folder.run_id
    listed = view(dashboard, "/workflows")
    assert "ValueError: not good" in listed
    assert f"siding workflow resume {run_id}" in listed
    page = view(dashboard, f"/workflows/{run_id}")
    for text in ("One", "Two", "1/1", "api-error", "ValueError: not good", "said", "base"):
        assert text in page, text
    assert page.count('class="agent ') == 2
    assert page.count("<rect ") == 2
    assert "Resume…" in page
    assert "End it…" not in page
    agent = view(dashboard, f"/workflows/{run_id}/agents/1")
    assert "Why it failed" in agent
    for shown in (page, agent, view(dashboard, f"/workflows/{run_id}/script")):
        assert "<script" not in shown
        assert "\u202e" not in shown
    only = view(dashboard, f"/workflows/{run_id}?only=failed&by=dollars")
    assert only.count('class="agent ') == 1
    for wrong in (run_id[:5], "last", "..", "nothere1"):
        assert dashboard.get(f"/view/workflows/{wrong}")[0] in (400, 404), wrong
    assert dashboard.get(f"/view/workflows/{run_id}/agents/9")[0] == 404
    assert dashboard.get(f"/view/workflows/{run_id}?only=x")[0] == 400
    record = dashboard.json(f"/api/v1/workflows/{run_id}")
    assert (record["status"], len(record["agents"])) == ("failed", 2)


def test_the_scripts_there_are_are_shown_with_what_may_be_run(
    work: AtWork, dashboard: Dashboard
) -> None:
    folder = work.sandbox.repo / ".siding/workflows"
    folder.mkdir(parents=True)
    meta = "meta = {'name': 'mine', 'description': 'What it does', 'phases': []}\n"
    (folder / "mine.py").write_text(f"{meta}log({HOSTILE!r})\nreturn 1\n")
    (folder / "broken.py").write_text("import os\nreturn 1\n")
    page = view(dashboard, "/workflows")
    assert "What it does" in page
    assert "not allowed yet" in page
    assert "siding workflow run --trust mine" in page
    assert "cannot import" in page
    script = view(dashboard, "/workflow-script?name=mine")
    assert "alert" in script
    assert "<script" not in script
    assert dashboard.get("/view/workflow-script?name=../../x")[0] == 400
    found = {each["name"]: each for each in dashboard.json("/api/v1/workflows")["workflows"]}
    assert not found["mine"]["is_trusted"]


def state_of(work: AtWork, count: int) -> tuple[str, RunState]:
    """Make a run with so many agents that are done, as its process would have written it."""
    prepared = work.prepare("return 1")
    agents = tuple(
        AgentState(
            id=number,
            label=f"agent {number}",
            phase="Many",
            status="done",
            result="ok",
            shape="text",
            used=Used(tokens=100 + number, model="m"),
            started_at=1_000_000 + number * 10,
            ended_at=1_000_500 + number * 10,
        )
        for number in range(count)
    )
    state = RunState(
        run_id=prepared.folder.run_id,
        status=RunStatus.COMPLETED,
        agents=agents,
        started_at=1_000_000,
        updated_at=2_000_000,
    )
    prepared.folder.write_state(state)
    return prepared.folder.run_id, state


def test_the_stream_sends_the_agents_that_changed_and_no_other(work: AtWork) -> None:
    run_id, state = state_of(work, 1000)
    folder = run_view(work.project(), run_id).folder
    follower = RunFollower(work.project(), run_id, "tokens")
    assert follower.whole() == [{"version": 2_000_000}]
    assert follower.look() == []
    changed = state.agents[7]._replace(says="something else", used=Used(tokens=999_999, model="m"))
    agents = (*state.agents[:7], changed, *state.agents[8:])
    folder.write_state(state._replace(agents=agents, updated_at=2_000_500))
    (message,) = follower.look()
    assert (message["version"], message["agents"]) == (2_000_500, [7])
    html = [part["html"] for part in message["parts"]]
    assert [text.count('id="agent-') for text in html if 'id="agent-' in text] == [1]
    assert sum(text.count('id="bar-') for text in html) == 1
    assert sum(map(len, html)) < 20_000
    assert follower.look() == []
    new = AgentState(id=1000, phase="New", started_at=1_900_000)
    folder.write_state(state._replace(agents=(*agents, new), updated_at=2_001_000))
    (message,) = follower.look()
    assert message["again"]  # there is no place on the page for a phase that is new


def test_the_first_agent_has_the_page_fetched_whole(work: AtWork) -> None:
    """Its phase was declared, so the page has a place for it, but no timeline yet."""
    folder = work.prepare("return 1").folder
    state = RunState(
        run_id=folder.run_id, status=RunStatus.COMPLETED, declared=("A",), updated_at=2_000
    )
    folder.write_state(state)
    follower = RunFollower(work.project(), folder.run_id, "tokens")
    agents: tuple[AgentState, ...] = (AgentState(id=0, phase="A", started_at=1_000),)
    folder.write_state(state._replace(agents=agents, updated_at=3_000))
    (message,) = follower.look()
    assert message["again"]
    agents = (agents[0]._replace(status="done", result="ok", ended_at=61_000),)
    folder.write_state(state._replace(agents=agents, updated_at=61_000))
    (message,) = follower.look()
    (ticks,) = [part["html"] for part in message["parts"] if 'id="run-ticks"' in part["html"]]
    assert "<span>1m00s</span>" in ticks


def test_a_page_of_a_thousand_agents_shows_some_and_says_how_many_more(
    work: AtWork, dashboard: Dashboard
) -> None:
    run_id, _state = state_of(work, 1000)
    page = view(dashboard, f"/workflows/{run_id}")
    assert page.count('class="agent ') == 100
    assert "Show all (900 more)" in page
    assert page.count("<rect ") == 1000
    whole = view(dashboard, f"/workflows/{run_id}?shown=100000")
    assert whole.count('class="agent ') == 1000


def test_the_list_is_told_when_a_run_gets_on(work: AtWork, begin: Begin) -> None:
    follower = RunsFollower(work.project())
    assert follower.look() == []
    live = begin("return await agent('x')", 1)
    assert follower.look() == [{"got_on": True}]
    work.sandbox.siding("workflow", "kill", live.run_id)
    live.wait()
    assert follower.look() == [{"got_on": True}]
    assert follower.look() == []


def acted(dashboard: Dashboard, run_id: str, **body: Any) -> tuple[int, dict[str, Any]]:
    status, answer = dashboard.post(f"/api/v1/workflows/{run_id}/act", body)
    found = json.loads(answer)
    assert isinstance(found, dict)
    return status, found


def code(dashboard: Dashboard, run_id: str, **body: Any) -> str:
    number = dashboard.codes + 1
    status, answer = dashboard.post(f"/api/v1/workflows/{run_id}/code", body)
    assert status == 200, answer
    return dashboard.code(number)


def test_acts_need_the_code_for_just_that(work: AtWork, dashboard: Dashboard, begin: Begin) -> None:
    script = "return await parallel([lambda: agent('x'), lambda: agent('y')])"
    live = begin(script, 2)
    run_id = live.run_id
    assert "asks" not in view(dashboard, f"/workflows/{run_id}/act?act=skip&agent=0")
    assert acted(dashboard, run_id, act="kill")[1]["error"]["code"] == "code_needed"
    assert acted(dashboard, run_id, act="kill", code="aaaaaa")[1]["error"]["code"] == "wrong_code"
    typed = code(dashboard, run_id, act="skip", agent=0)
    assert b"wants to skip agent #0 " in dashboard.said
    other = acted(dashboard, run_id, act="skip", agent=1, code=typed)
    assert other[1]["error"]["code"] == "wrong_code"
    typed = code(dashboard, run_id, act="skip", agent=0)
    assert acted(dashboard, run_id, act="skip", agent=0, code=typed)[0] == 200
    until(lambda: run_view(work.project(), run_id).state.agents[0].result == "skipped")
    again = acted(dashboard, run_id, act="skip", agent=0, code="aaaaaa")
    assert again[1]["error"]["code"] == "workflow_nothing_to_do"
    for wrong in ({"act": "skip"}, {"act": "resume", "agent": 1}, {"act": "kill", "agent": "1"}):
        assert acted(dashboard, run_id, **wrong)[0] in (400, 409), wrong
    typed = code(dashboard, run_id, act="kill")
    assert acted(dashboard, run_id, act="kill", code=typed)[0] == 200
    live.wait()
    assert run_view(work.project(), run_id).state.status is RunStatus.KILLED


def test_a_run_is_resumed_in_the_background(work: AtWork, dashboard: Dashboard) -> None:
    script = "return await ask('Go on?', options=['yes', 'no'])"
    prepared = work.prepare(script)
    run_id = prepared.folder.run_id
    typed = code(dashboard, run_id, act="resume")
    assert acted(dashboard, run_id, act="resume", code=typed)[0] == 200
    until(lambda: bool(dashboard.json("/api/v1/decisions")["decisions"]))
    page = view(dashboard, f"/workflows/{run_id}")
    (waiting,) = dashboard.json("/api/v1/decisions")["decisions"]
    assert f'href="/decisions/{waiting["session_id"]}"' in page
    answers = {"decisions": [{"id": 1, "chosen": "yes"}]}
    path = f"/api/v1/decisions/{waiting['session_id']}/answer"
    assert dashboard.post(path, answers)[0] == 200
    until(lambda: run_view(work.project(), run_id).state.is_over)
    assert run_view(work.project(), run_id).state.value == "yes"


def test_the_work_of_an_agent_is_one_click_away(work: AtWork, dashboard: Dashboard) -> None:
    run_id, state = state_of(work, 1)
    (agent,) = state.agents
    where = Work(task=work.project().tasks.ids()[0], run="r1", step="0001", session="s-1")
    agents = (agent._replace(work=where),)
    run_view(work.project(), run_id).folder.write_state(state._replace(agents=agents))
    page = view(dashboard, f"/workflows/{run_id}")
    assert f'href="/tasks/{where.task}/steps/1"' in page
    assert f'href="/tasks/{where.task}/steps/1#patch"' in page
    assert "siding session show s-1" in view(dashboard, f"/workflows/{run_id}/agents/0")
