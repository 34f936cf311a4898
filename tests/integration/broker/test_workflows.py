"""Workflows that a run starts: in the background, in its own task, no freer than itself."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from bwrap import needs_bwrap
from sandbox import Sandbox

from .inside import Foothold, Line, foothold, until

# An agent that says where it runs, and what of its sandbox it sees.
AGENT = ["sh", "-c", 'printf "%s %s" "$1" "${SIDING_SANDBOX:-free}"', "agent", "{prompt}"]


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    home = sandbox.directory / "siding"
    home.mkdir(exist_ok=True)
    settings = {"workflows": {"agent": "say", "agents": {"say": {"command": AGENT}}}}
    (home / "config.yaml").write_text(json.dumps(settings))
    sandbox.siding("task", "start", "flows")
    return sandbox


@pytest.fixture
def run(task: Sandbox) -> Iterator[Foothold]:
    with foothold(task) as found:
        yield found


def ended(line: Line, run_id: str) -> Mapping[str, Any]:
    """Wait until a run of a workflow is over, and return its state."""
    newest: dict[str, Any] = {}

    def is_over() -> bool:
        newest.update(line.result("workflow", act="status", run=run_id))
        return newest["status"] in {"completed", "failed", "killed"}

    until(is_over)
    return newest


def test_a_run_starts_a_workflow_and_gets_what_it_returned(run: Foothold) -> None:
    line = run.line()
    script = "return [await agent('one', label='first'), args]"
    begun = line.result("workflow", act="run", script=script, args='{"n": 1}')
    state = ended(line, str(begun["run_id"]))
    assert state["returnValue"] == ["one free", {"n": 1}]
    assert state["agents"][0]["label"] == "first"
    steps = [step for step in run.task.steps() if step["kind"] == "run"]
    assert [step["name"] for step in steps if step.get("name")] == ["first"]


def test_it_goes_on_when_the_run_has_ended(task: Sandbox) -> None:
    with foothold(task) as run:
        script = "await sleep(3)\nreturn await agent('late')"
        begun = run.line().result("workflow", act="run", script=script)
    shown = task.siding("workflow", "watch", str(begun["run_id"]))
    assert b"completed" in shown.stderr
    assert task.siding("workflow", "show", "--result").stdout == b"late free\n"


@needs_bwrap
def test_from_a_sandbox_its_agents_are_sandboxed(task: Sandbox) -> None:
    with foothold(task, "--sandbox") as run:
        line = run.line()
        begun = line.result("workflow", act="run", script="return await agent('inside')")
        state = ended(line, str(begun["run_id"]))
    assert state["returnValue"] == "inside bwrap"


def test_an_agent_allows_no_script_of_the_repository(run: Foothold) -> None:
    path = run.task.repo / ".siding/workflows/mine.py"
    path.parent.mkdir(parents=True)
    path.write_text("return 1")
    line = run.line()
    assert line.refused("workflow", act="run", name="mine") == "workflow_not_trusted"
    run.task.siding("workflow", "run", "--trust", "mine")
    begun = line.result("workflow", act="run", name="mine")
    assert ended(line, str(begun["run_id"]))["returnValue"] == 1


def test_it_is_ended_from_inside_as_well(run: Foothold) -> None:
    line = run.line()
    begun = line.result("workflow", act="run", script="await sleep(600)")
    until(lambda: line.ask("workflow", act="cancel", run=begun["run_id"])["ok"])
    assert ended(line, str(begun["run_id"]))["status"] == "killed"


def test_what_makes_no_sense_is_refused(run: Foothold) -> None:
    line = run.line()
    assert line.refused("workflow", act="run") == "bad_request"
    assert line.refused("workflow", act="dance") == "bad_request"
    assert line.refused("workflow", act="run", script="import os") == "workflow_script"
    assert line.refused("workflow", act="run", name="../x") == "workflow_script"
    assert line.refused("workflow", act="run", script_path="/etc/passwd") == "workflow_script"
    assert line.refused("workflow", act="run", name="nope") == "workflow_not_found"
    assert line.refused("workflow", act="run", script="return 1", max_concurrency=99) == (
        "bad_request"
    )
    assert line.result("workflow", act="status", run="wnope0000")["found"] is False


def test_the_runs_of_other_tasks_are_not_there(run: Foothold) -> None:
    run.task.siding("task", "start", "other")
    run.task.siding("workflow", "run", "-t", "other", "-", stdin=b"return 1")
    other = run.task.json("workflow", "list", "--format", "json")[0]["runId"]
    assert run.line().result("workflow", act="status", run=other)["found"] is False
