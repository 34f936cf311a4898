"""Runs of workflows in the inbox, the day, a task's card, notifications and usage."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from integration.usage import homes
from integration.workflows.conftest import AtWork
from siding.feed.fold import feed_of
from siding.feed.inbox import waiting_in
from siding.feed.model import RowKind, State
from siding.feed.today import Section, today
from siding.workflows.acts.background import tell_ended
from siding.workflows.acts.from_dashboard import NothingToDo, RunAct, refuse_senseless
from siding.workflows.acts.views import run_view, way_on
from siding.workflows.outcome import Used, Work
from siding.workflows.state import AgentState, RunState, RunStatus

OK = {"*": "did <prompt>"}
BAD = "raise ValueError('not good')"
DEAD = {"*": [{"kind": "dead", "reason": "api-error", "detail": "x", "retryable": False}]}


def entries(work: AtWork) -> list[tuple[str, str, str]]:
    found = waiting_in(work.project()).entries
    return [(each.kind, each.title, each.command) for each in found]


def test_a_run_that_failed_waits_until_somebody_goes_on(work: AtWork) -> None:
    prepared = work.prepare(BAD)
    work.carry_out(prepared, OK)
    run_id = prepared.folder.run_id
    command = f"siding workflow show {run_id}"  # resumed as it is, it would fail again
    assert entries(work) == [("workflow", "workflow failed: ValueError: not good", command)]
    (entry,) = waiting_in(work.project()).entries
    assert (entry.page, entry.task_name) == (f"/workflows/{run_id}", "flows")
    (line,) = today(work.project().app).section(Section.BROKE)
    assert (line.mark, line.command) == ("workflow", command)
    task, run = feed_of(work.project().app).rows
    assert (task.kind, task.state, task.asks) == (RowKind.TASK, State.BROKE, run.asks)
    assert (run.kind, run.state, run.parent) == (RowKind.WORKFLOW, State.BROKE, task.key)
    assert (line.row, line.state, line.id) == (run.key, "broke", run.asks[0])
    work.run("return 1", OK)  # a newer run of the same workflow
    assert entries(work) == []
    task, *done = feed_of(work.project().app).rows
    assert [task.state, *(row.state for row in done)] == [State.RESTS, State.DONE, State.DONE]
    assert not any(row.asks for row in (task, *done))


def test_a_resume_is_named_only_where_it_helps(work: AtWork) -> None:
    """A script that raised gets the same answers, unless an agent is asked again."""
    for script, agents, said in (
        ("name = args['name']\nreturn await agent(name)", OK, "nothing is recorded that a resume"),
        (f"await agent('a')\n{BAD}", OK, "resumed as it is, it fails again"),
        (f"await agent('a')\n{BAD}", DEAD, "goes on from its record"),
    ):
        prepared = work.prepare(script)
        work.carry_out(prepared, agents)
        run_id = prepared.folder.run_id
        view = run_view(work.project(), run_id)
        assert said in way_on(view.state)
        can_resume = "goes on" in said
        assert view.can_resume is can_resume
        (entry,) = waiting_in(work.project()).entries
        verb = "resume" if can_resume else "show"
        assert entry.command == f"siding workflow {verb} {run_id}"
        if not can_resume:
            with pytest.raises(NothingToDo, match="would fail again"):
                refuse_senseless(view, RunAct.RESUME, None)
    state = view.state._replace(status=RunStatus.COMPLETED)
    assert way_on(state) == ""
    assert "goes on" in way_on(state._replace(status=RunStatus.KILLED))


def test_what_has_ended_well_or_by_a_person_and_closed_tasks_wait_for_nobody(
    work: AtWork,
) -> None:
    work.run("return 1", OK)
    assert entries(work) == []
    prepared = work.prepare(BAD)
    work.carry_out(prepared, OK)
    state = run_view(work.project(), prepared.folder.run_id).state
    prepared.folder.write_state(state._replace(status=RunStatus.KILLED))
    assert entries(work) == []
    prepared.folder.write_state(state._replace(status=RunStatus.FAILED))
    assert len(entries(work)) == 1
    work.sandbox.siding("task", "close", "flows", "--force")
    assert entries(work) == []


def test_a_later_step_of_the_task_takes_the_place_of_a_failed_run(work: AtWork) -> None:
    prepared = work.prepare(BAD)
    work.carry_out(prepared, OK)
    state = run_view(work.project(), prepared.folder.run_id).state
    earlier = state._replace(updated_at=state.updated_at - 10_000)
    prepared.folder.write_state(earlier)
    assert len(entries(work)) == 1
    work.sandbox.siding("run", "--no-tty", "--", "true")
    assert entries(work) == []


def test_a_run_that_nobody_works_on_any_more_waits(work: AtWork) -> None:
    prepared = work.prepare("return await agent('x')")
    prepared.folder.write_state(RunState(run_id=prepared.folder.run_id, task=prepared.task.id))
    ((kind, title, _command),) = entries(work)
    assert (kind, title) == ("workflow", "workflow interrupted: 0/0 agents")


def test_a_run_at_work_is_in_the_day_and_on_the_card_of_its_task(work: AtWork) -> None:
    prepared = work.prepare("phase('Look')\nreturn await agent('x')")
    seen: list[Any] = []

    def look(_event: object, state: RunState) -> None:
        if state.agents and not seen:
            prepared.folder.write_state(state)
            seen.append(today(work.project().app).section(Section.RUNS))
            seen.append(feed_of(work.project().app).rows)
            seen.append(work.sandbox.siding("task", "show", "flows").stdout.decode())

    work.carry_out(prepared, OK, look)
    lines, (task, run, agent), card = seen
    assert [row.state for row in (task, run, agent)] == [State.RUNS] * 3
    assert (run.parent, agent.parent, agent.kind) == (task.key, run.key, RowKind.AGENT)
    assert (task.what, run.what) == ("workflow · 0/1 agent · Look", "0/1 agent · Look")
    command = f"siding workflow watch {prepared.folder.run_id}"
    assert [(line.what, line.command) for line in lines] == [
        ("workflow · 0/1 agent · Look", command)
    ]
    assert command in card
    assert today(work.project().app).section(Section.RUNS) == []


def notified(work: AtWork) -> list[list[str]]:
    told = work.sandbox.directory / "told"
    return [line.split("|") for line in told.read_text().splitlines()] if told.exists() else []


def test_a_person_is_told_of_runs_that_nobody_looked_at(work: AtWork) -> None:
    told = work.sandbox.directory / "told"
    hook = f'echo "$SIDING_WAITS|$SIDING_WAITS_TITLE|$SIDING_WAITS_COMMAND" >> {told}'
    settings = json.dumps({"version": 1, "hooks": {"notify": [hook]}})
    (work.sandbox.project / "config.yaml").write_text(settings)
    good, bad = work.prepare("return 1"), work.prepare(BAD)
    for prepared in (good, bad):
        work.carry_out(prepared, OK)
        tell_ended(work.project(), prepared.folder.run_id, detached=False)
    assert notified(work) == []  # they took no time, and whoever began them saw it
    for prepared in (good, bad):
        tell_ended(work.project(), prepared.folder.run_id, detached=True)
    shown = [f"siding workflow show {each.folder.run_id}" for each in (good, bad)]
    assert notified(work) == [
        ["done", "workflow completed: 0/0 agents", shown[0]],
        ["workflow", "workflow failed: ValueError: not good", shown[1]],
    ]
    state = run_view(work.project(), good.folder.run_id).state
    good.folder.write_state(state._replace(started_at=state.updated_at - 61_000))
    tell_ended(work.project(), good.folder.run_id, detached=False)
    assert len(notified(work)) == 3


def usage(work: AtWork, *more: str) -> Mapping[str, Any]:
    rows = work.sandbox.json("usage", "--by", "workflow", "--cost", "--format", "json", *more)
    return {row["workflow"]: row for row in rows}


def test_usage_by_workflow_counts_conversations_and_else_what_the_run_knows(work: AtWork) -> None:
    prepared = work.prepare("return 1")
    run_id, began = prepared.folder.run_id, 1_767_225_600_000  # 2026-01-01
    model = "claude-opus-4-8"

    def agent(number: int, session: str) -> AgentState:
        return AgentState(
            id=number,
            status="done",
            result="ok",
            used=Used(tokens=100, input_tokens=4_000, dollars=0.25, model="someone's"),
            work=Work(session=session, task=prepared.task.id),
            started_at=began,
            ended_at=began + 60_000,
        )

    agents = (agent(0, homes.CLAUDE), agent(1, "nobody-keeps-it"), agent(2, ""))
    state = RunState(
        run_id=run_id,
        status=RunStatus.COMPLETED,
        task=prepared.task.id,
        agents=agents,
        started_at=began,
        updated_at=began + 60_000,
    )
    prepared.folder.write_state(state)
    row = f"workflow {run_id}"
    none_kept = usage(work)[row]
    assert (none_kept["output"], none_kept["input"]) == (state.tokens, 12_000)
    assert none_kept["cost"] == pytest.approx(state.dollars)
    assert usage(work, "--until", "2025-12-31") == {}

    def said(seconds: int, message: str, tokens: int) -> dict[str, Any]:
        at = datetime.fromtimestamp(began / 1000 + seconds, UTC).isoformat(timespec="milliseconds")
        return homes.answered(at, message, tokens, model=model)

    lines = [said(10, "A", 700), said(20, "B", 30), said(7_200, "C", 9_000)]  # C: later, by hand
    homes.claude(Path(work.sandbox.env["HOME"]), homes.CLAUDE, lines)
    found = usage(work)
    assert list(found) == [row]
    assert (found[row]["calls"], found[row]["output"]) == (2, 2 * 10 + 2 * 100)
    assert found[row]["input"] == 730 + 2 * 4_000
