"""What every agent behind the port does: the same cases for all of them."""

import asyncio
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import get_ident

import pytest

from agents.calls.bench import Bench, call
from agents.calls.subjects import OWN, REAL, OfModel, Subject, Told
from agents.conftest import at_work
from agents.test_killed import left
from sandbox import Sandbox
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.engine.ports import Attempt, Report
from siding.workflows.outcome import Dead, DeadReason, Done, Outcome

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "number"}},
    "required": ["n"],
    "additionalProperties": False,
}
WAITS = "echo x >>begun; sleep 300; echo y"


@pytest.fixture(params=[*OWN, *REAL], ids=lambda kind: kind.name)
def subject(request: pytest.FixtureRequest, sandbox: Sandbox) -> Iterator[Subject]:
    """An agent of each kind, in a new task."""
    kind = request.param
    if kind in OWN:
        sandbox.siding("task", "start", "called")
        found = kind(sandbox)
    else:
        assert issubclass(kind, OfModel)
        found = kind(sandbox, at_work(sandbox, kind.at_work))
    yield found
    found.close()


def test_a_text_and_where_the_work_is(subject: Subject) -> None:
    subject.told(first=Told(text="I made it.", command="echo a >a.txt"))
    bench = Bench(subject)
    outcome = bench.call("--first, make a.txt", label="maker")
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "I made it."
    assert (subject.task.workspace() / "a.txt").read_text() == "a\n"
    run = [step for step in subject.task.steps() if step["kind"] == "run"][-1]
    assert (run["run"], run["name"]) == (outcome.work.run, "maker")
    assert run["prompt"] == "--first, make a.txt"
    assert outcome.work.step == f"{len(subject.task.steps()):04d}"
    assert bool(outcome.work.session) is subject.remembers
    if subject.counts:
        assert outcome.used.tokens >= 20, outcome.used
        assert outcome.used.input_tokens >= 100


def test_an_object_by_a_schema(subject: Subject) -> None:
    subject.told(count=Told(output={"n": 3}))
    outcome = Bench(subject).call("count them", schema=SCHEMA)
    assert isinstance(outcome, Done), outcome
    assert outcome.output == {"n": 3}


def test_an_object_that_is_missing(subject: Subject) -> None:
    subject.told(count=Told(text="I would rather not."))
    outcome = Bench(subject).call("count them", schema=SCHEMA)
    assert isinstance(outcome, Dead), outcome
    assert outcome.reason is DeadReason.NO_STRUCTURED_OUTPUT
    assert "I would rather not" in outcome.detail


@pytest.mark.parametrize(("status", "retryable"), [(529, True), (400, False)])
def test_a_failure(subject: Subject, status: int, retryable: bool) -> None:
    if subject.is_patient and status > 500:
        pytest.skip(f"{subject.name} tries for minutes")
    subject.told(first=Told(failure=status))
    outcome = Bench(subject).call("first")
    assert isinstance(outcome, Dead), outcome
    if not subject.has_server:
        return
    assert (outcome.reason, outcome.retryable) == (DeadReason.API_ERROR, retryable), outcome
    assert outcome.detail


def test_its_time_is_up(subject: Subject) -> None:
    subject.told(first=Told(text="late", command=WAITS))
    outcome = Bench(subject).call("first", timeout_s=1.0)
    assert isinstance(outcome, Dead), outcome
    assert (outcome.reason, outcome.retryable) == (DeadReason.TOTAL_TIMEOUT, True)


def test_it_says_nothing_for_too_long(subject: Subject) -> None:
    subject.told(first=Told(text="late", command=WAITS))
    outcome = Bench(subject, no_progress="2s").call("first")
    assert isinstance(outcome, Dead), outcome
    assert (outcome.reason, outcome.retryable) == (DeadReason.NO_PROGRESS, True)


def test_it_is_killed_in_the_middle(subject: Subject) -> None:
    subject.told(first=Told(text="late", command=WAITS))
    bench = Bench(subject)

    async def killed(agents: ProgramAgents) -> Outcome:
        reports: list[Report] = []
        task = asyncio.ensure_future(agents.run(call("first"), Attempt(), reports.append))
        await _begun(subject, task)
        os.kill(_command_of(subject), 9)
        return await task

    outcome = bench.loop(killed)
    assert isinstance(outcome, Dead), outcome
    assert (outcome.reason, outcome.retryable) == (DeadReason.UNKNOWN, True)


def test_cancelling_ends_all_of_it_and_is_recorded(subject: Subject) -> None:
    subject.told(first=Told(text="late", command=WAITS))
    bench = Bench(subject)

    async def cancelled(agents: ProgramAgents) -> None:
        task = asyncio.ensure_future(agents.run(call("first"), Attempt(), lambda _report: None))
        await _begun(subject, task)
        task.cancel()
        task.cancel()  # the engine does so as well
        with pytest.raises(asyncio.CancelledError):
            await task
        assert left(subject.task.env["SIDING_HOME"]) == []

    bench.loop(cancelled)
    run = [step for step in subject.task.steps() if step["kind"] == "run"][-1]
    assert (run["status"], run["ending"]) == ("interrupted", "stopped")


def test_a_conversation_is_gone_on_with(subject: Subject) -> None:
    subject.told(first=Told(text="one"), onwards=Told(text="before: first"))
    bench = Bench(subject)
    first = bench.call("first")
    assert isinstance(first, Done), first
    outcome = bench.call("onwards", Attempt(number=2, session=first.work.session))
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "before: first"
    if subject.remembers:
        assert outcome.work.session == first.work.session
        assert subject.has_heard("first")
    if subject.counts:  # what it used in this run alone
        assert outcome.used.tokens == first.used.tokens


def test_a_conversation_that_is_gone_is_begun_anew(subject: Subject) -> None:
    subject.told(first=Told(text="one"))
    gone = "00000000-0000-4000-8000-000000000000"
    outcome = Bench(subject).call("first", Attempt(number=2, session=gone))
    assert isinstance(outcome, Done), outcome
    assert outcome.output == "one"


def test_what_it_reports_comes_in_order_and_in_the_loop(subject: Subject) -> None:
    subject.told(first=Told(text="I made it.", command="echo a >a.txt"))
    bench = Bench(subject)
    reports: list[tuple[int, Report]] = []

    async def followed(agents: ProgramAgents) -> Outcome:
        return await agents.run(
            call("first"), Attempt(), lambda report: reports.append((get_ident(), report))
        )

    outcome = bench.loop(followed)
    assert isinstance(outcome, Done), outcome
    assert {thread for thread, _report in reports} == {get_ident()}
    told = [report for _thread, report in reports]
    assert told[0].work.run == outcome.work.run
    assert told[0].work.task == outcome.work.task
    tokens = [report.used.tokens for report in told]
    assert tokens == sorted(tokens)
    assert told[-1].says
    sessions = [report.work.session for report in told if report.work.session]
    assert set(sessions) <= {outcome.work.session}


def test_two_at_once(subject: Subject) -> None:
    subject.told(lemon=Told(text="the first"), mango=Told(text="the second"))
    bench = Bench(subject)

    async def both(agents: ProgramAgents) -> list[Outcome]:
        calls = [call("say lemon", 1), call("say mango", 2)]
        runs = [agents.run(each, Attempt(), lambda _report: None) for each in calls]
        return list(await asyncio.gather(*runs))

    outcomes = [outcome for outcome in bench.loop(both) if isinstance(outcome, Done)]
    assert [outcome.output for outcome in outcomes] == ["the first", "the second"]
    assert len({outcome.work.run for outcome in outcomes}) == 2


async def _begun(subject: Subject, task: "asyncio.Task[Outcome]") -> None:
    """Wait until the agent's command waits."""
    begun, until = subject.task.workspace() / "begun", time.monotonic() + 90
    while not begun.exists():
        assert not task.done(), task.result()
        assert time.monotonic() < until
        await asyncio.sleep(0.02)


def _command_of(subject: Subject) -> int:
    """Return the process of the run's command."""
    for path in Path(subject.task.env["SIDING_HOME"]).glob("projects/*/tasks/*/runs/r*.json"):
        pid = json.loads(path.read_text()).get("command", {}).get("pid", 0)
        if pid:
            return int(pid)
    raise AssertionError("nothing runs")
