"""An agent at work is killed or begun again by a person, and what is said of one that failed."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from siding.workflows.engine.engine import Engine
from siding.workflows.engine.ports import AgentCall, Attempt, Control, Report
from siding.workflows.events import AgentProgress, Event
from siding.workflows.outcome import Done, Outcome, Work
from unit.workflows.world import ScriptedAgents, lines, run_script


class Waiting(ScriptedAgents):
    """Agents whose first attempt has no end."""

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        self.attempts.append(attempt)
        if len(self.attempts) == 1:
            report(Report(work=Work(session="s")))
            await asyncio.sleep(600)
        return Done(output="done")


def wanting(control: Control) -> Callable[[Engine, Event], None]:
    def want(engine: Engine, event: Event) -> None:
        if isinstance(event, AgentProgress):
            assert engine.control(event.id, control)

    return want


def test_one_that_is_begun_again_has_not_failed(tmp_path: Path) -> None:
    script = "return await agent('a', retries=0)"
    agents = Waiting({})
    done = run_script(tmp_path / "journal", script, agents, control=wanting(Control.RETRY)).done
    assert (done.value, [each.number for each in agents.attempts]) == ("done", [1, 2])


def test_of_one_that_is_killed_it_is_known_where_its_work_is(tmp_path: Path) -> None:
    script = "return await agent('a')"
    control = wanting(Control.KILL)
    assert run_script(tmp_path / "journal", script, Waiting({}), control=control).done.value is None
    (answer,) = [line for line in lines(tmp_path / "journal") if line["t"] == "answer"]
    assert (answer["result"]["reason"], answer["result"]["work"]) == ("killed", {"session": "s"})


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ({"kind": "dead", "reason": "api-error", "detail": "x"}, "gave no result, api-error (x);"),
        ({"throw": "oh"}, "threw (oh);"),
    ],
)
def test_it_is_said_why_one_is_run_again(tmp_path: Path, first: dict[str, str], told: str) -> None:
    table = {"*": [first, {"kind": "ok", "output": "y"}]}
    ran = run_script(tmp_path / "journal", "return await agent('a')", table)
    assert ran.done.value == "y"
    assert [each for each in ran.warnings if told in each], ran.warnings


class Elsewhere(ScriptedAgents):
    """Agents whose work moves to another conversation while they are at it."""

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        self.attempts.append(attempt)
        for session in ("s", "s", "t"):
            report(Report(work=Work(session=session)))
        if len(self.attempts) == 1:
            await asyncio.sleep(600)
        return Done(output="done")


def test_one_that_is_cut_off_goes_on_with_the_conversation_that_it_told_last(
    tmp_path: Path,
) -> None:
    script = "return await agent('a', retries=0)"
    agents = Elsewhere({})
    run_script(tmp_path / "journal", script, agents, stop_after_s=0.01)
    run_script(tmp_path / "journal", script, agents)
    assert [each.session for each in agents.attempts] == ["", "t"]


def test_a_failed_function_is_named_with_its_line(tmp_path: Path) -> None:
    script = """
def builds():
    raise ValueError("boom")
async def checks():
    raise ValueError("bang")
return await parallel([builds, lambda: 1 / 0, checks()])
"""
    ran = run_script(tmp_path / "journal", script, {})
    assert ran.done.value == [None, None, None]
    begin = [each.partition(": ")[0] for each in ran.warnings]
    lines_of = [int(each.rpartition("line ")[2].rstrip(")")) for each in begin]
    assert [each - lines_of[0] for each in lines_of] == [0, 4, 2]
    assert begin[0] == f"parallel thunk #0 failed (builds, line {lines_of[0]})"
    assert begin[1] == f"parallel thunk #1 failed (line {lines_of[1]})"
