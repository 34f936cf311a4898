"""What an agent is known to have used: while it works, when it is ended, and in dollars."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.calls.bench import Bench, call
from agents.calls.subjects import Plain
from integration.usage import homes
from sandbox import Sandbox
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.engine.ports import Attempt, Report
from siding.workflows.outcome import Dead, Done, Used

MODEL = "nobody-else-has-it"
PRICES = {MODEL: {"input": 1, "cache_read": 0.1, "output": 10}}  # dollars for a million
LEAST = 0.2 + 0.1  # of what `USED` says


def said(**event: Any) -> str:
    return f"printf '%s\\n' '{json.dumps(event)}'"


SESSION = said(event="session", id="s", model=MODEL)
USED = said(event="used", tokens=20_000, input_tokens=1_000_000)
DONE = said(event="done", text="yes")


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "called")
    Path(sandbox.env["SIDING_HOME"], "prices.yaml").write_text(json.dumps(PRICES))
    return sandbox


def bench(task: Sandbox, *lines: str) -> Bench:
    return Bench(Plain(task), command=["sh", "-c", "\n".join(lines)], prints="events")


def used(task: Sandbox, *lines: str) -> Used:
    outcome = bench(task, *lines).call("x")
    assert isinstance(outcome, Done), outcome
    return outcome.used


def test_what_it_says_of_dollars_counts_and_else_the_least_that_it_costs(task: Sandbox) -> None:
    own = said(event="used", tokens=20_000, input_tokens=1_000_000, dollars=7)
    assert used(task, SESSION, own, DONE).dollars == 7
    assert used(task, SESSION, USED, DONE).dollars == pytest.approx(LEAST)
    assert used(task, USED, DONE).dollars is None  # nobody knows its model
    unknown = said(event="session", id="s", model="nobody-has-its-price")
    assert used(task, unknown, USED, DONE).dollars is None


def test_one_that_says_only_tokens_is_held_to_a_budget_in_dollars(task: Sandbox) -> None:
    bench(task, SESSION, USED, "sleep 300")
    (task.repo / "one.py").write_text(
        "return [await agent('x', agent_type='tried'), budget.spent()]"
    )
    ran = task.siding("workflow", "run", "one.py", "--dollars", "0.25")
    assert json.loads(ran.stdout) == [None, 20_000]
    assert "it used more than its share of the run's budget" in ran.stderr.decode()


@pytest.mark.parametrize("ends", ["", "sleep 300"], ids=["by itself", "late"])
def test_an_answer_that_is_there_is_kept_though_it_was_over_its_share(
    ends: str, task: Sandbox
) -> None:
    used = json.dumps({"event": "used", "tokens": 900, "dollars": 0.5})
    done = json.dumps({"event": "done", "text": "yes"})
    # In one piece: an answer that is not there when its share is spent does not come any more.
    bench(task, SESSION, f"printf '%s\\n' '{used}' '{done}'", ends)
    (task.repo / "three.py").write_text(
        "got = await parallel([lambda n=n: agent(f'x{n}', agent_type='tried') for n in range(2)])\n"
        "try:\n"
        "    await agent('one more', agent_type='tried')\n"
        "except Exception as error:\n"
        "    got.append(str(error))\n"
        "return got\n"
    )
    ran = task.siding("workflow", "run", "three.py", "--budget", "1000", "--slots", "2")
    first, second, refused = json.loads(ran.stdout)
    assert (first, second) == ("yes", "yes")
    assert refused == "the budget is spent: 1800 of 1000 tokens"


def test_options_that_are_refused_are_refused_once(task: Sandbox) -> None:
    refused = (
        "echo \"error: option '--mode <m>' argument 'x' is invalid. Allowed choices are y.\" >&2"
    )
    outcome = bench(task, refused, "exit 1").call("x")
    assert isinstance(outcome, Dead)
    assert (outcome.retryable, "it does not take its options: error: option" in outcome.detail) == (
        False,
        True,
    )


# It reports a turn and writes its transcript as Claude Code does, and says nothing of what it uses.
SAYS_LITTLE = """
import json, os, socket, sys, time
session, transcript, answered = sys.argv[1:]
payload = {"session_id": session, "transcript_path": transcript, "prompt": "x"}
broker = socket.socket(socket.AF_UNIX)
broker.connect(os.environ["SIDING_SOCKET"])
for event in ("UserPromptSubmit", "Stop"):
    told = {"do": "report", "agent": "claude", "payload": {**payload, "hook_event_name": event}}
    broker.sendall((json.dumps(told) + chr(10)).encode())
    broker.recv(65536)
    open(transcript, "a").write(answered + chr(10))
print(json.dumps({"event": "says", "text": "here"}), flush=True)
time.sleep(300)
"""


def test_what_one_has_used_that_was_ended_is_known_by_its_transcript(task: Sandbox) -> None:
    transcript = homes.claude(Path(task.env["HOME"]), homes.CLAUDE, [])
    answered = json.dumps(homes.answered("2099-01-01T00:00:00Z", "M", 700), separators=(",", ":"))
    argv = [sys.executable, "-c", SAYS_LITTLE, homes.CLAUDE, str(transcript), answered]
    reports: list[Report] = []

    async def cancelled(agents: ProgramAgents) -> None:
        running = asyncio.ensure_future(agents.run(call("x"), Attempt(), reports.append))
        while not (reports and reports[-1].says == "here"):
            assert not running.done(), running.result()
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    Bench(Plain(task), command=argv, prints="events").loop(cancelled)
    assert (reports[-1].used.tokens, reports[-1].used.input_tokens) == (10, 700)
