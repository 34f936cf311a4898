"""Carry out workflows of agents that do nothing, in a process that lives.

``workflows_worker.py CALLS ROUNDS DIRECTORY FILE``: runs each shape of script on a journal in the
directory, resumes one of them, appends and flushes lines of the same kind, by turns. Writes the
samples of one call or line, elapsed and processor milliseconds and the memory of the engine, as
JSON into FILE.
"""

import asyncio
import json
import os
import resource
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from textwrap import dedent
from time import perf_counter_ns
from typing import Any

from siding.ground.process.dialogue import start_linked
from siding.ground.storage.journals import Journal
from siding.workflows.acts.script_process import SCRIPT_ENVIRONMENT, script_argv
from siding.workflows.engine.engine import Engine
from siding.workflows.engine.plan import Ports, RunPlan
from siding.workflows.engine.ports import AgentCall, Attempt, CommandCall, Question, Report
from siding.workflows.events import RunDone
from siding.workflows.limits import Limits
from siding.workflows.outcome import Done, Outcome
from siding.workflows.script import Script

AT_ONCE = 16
ITEMS = 4_000  # that one `parallel` or `pipeline` is given; more of them follow each other
LINES = 200
SHAPES = {
    "sequential": """
        for number in range(args):
            await agent(f"do {number}")
    """,
    "parallel": f"""
        for first in range(0, args, {ITEMS}):
            last = min(args, first + {ITEMS})
            await parallel([lambda n=n: agent(f"do {{n}}") for n in range(first, last)])
    """,
    **{
        f"pipeline {stages}": f"""
        async def stage(_before, item, number):
            return await agent(f"do {{item}} {{number}}")
        for first in range(0, args // {stages}, {ITEMS}):
            last = min(args // {stages}, first + {ITEMS})
            await pipeline(list(range(first, last)), {", ".join(["stage"] * stages)})
    """
        for stages in (1, 2, 5)
    },
}
RESUMED = "parallel"
Samples = dict[str, list[tuple[float, float, float]]]


class Nothing:
    """Agents that do nothing, and nobody and nothing else."""

    def __init__(self) -> None:
        self.calls = 0

    async def run(
        self, call: AgentCall, _attempt: Attempt, _report: Callable[[Report], None]
    ) -> Outcome:
        self.calls += 1
        return Done(output=call.prompt)

    async def ask(self, question: Question) -> Any:
        raise AssertionError(question)

    async def bring_back(self, fork: str) -> Mapping[str, Any]:
        raise AssertionError(fork)

    def named(self, name: str) -> str:
        raise AssertionError(name)

    def at(self, path: str) -> str:
        raise AssertionError(path)


class _NoCommands(Nothing):
    async def run(self, call: CommandCall) -> Mapping[str, Any]:  # type: ignore[override]
        raise AssertionError(call)


def carried_out(shape: str, journal: Path, calls: int) -> int:
    """Run a script to its end; return how many of its calls were not taken from the record."""
    agents = Nothing()
    ports = Ports(
        agents=agents,
        people=agents,
        workspaces=_NoCommands(),
        sources=agents,
        start_script=lambda: start_linked(script_argv(), env=SCRIPT_ENVIRONMENT, cwd=Path("/")),
        emit=lambda _event: None,
        now=lambda: 0.0,
        random=lambda: 0.0,
        stamp=lambda: "2026-01-01T00:00:00.000Z",
    )
    plan = RunPlan(
        script=Script(source=dedent(SHAPES[shape]), meta=None),
        journal=journal,
        args=calls,
        limits=Limits(concurrency=AT_ONCE, agents=calls),
    )
    done: RunDone = asyncio.run(Engine(plan, ports).run())
    if done.status != "completed":
        raise SystemExit(f"{shape}: {done.error}")
    return agents.calls


def timed(samples: Samples, name: str, act: Callable[[], object], count: int) -> object:
    """Do it, and note what one of `count` took, with the processes that it waited for."""
    os.sync()  # what others have written is not on its account
    cpu, wall = _cpu_ms(), perf_counter_ns()
    result = act()
    took = (perf_counter_ns() - wall) / 1e6 / count, (_cpu_ms() - cpu) / count
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    samples.setdefault(name, []).append((*took, memory))
    return result


def append_lines(path: Path) -> None:
    """Append lines of the size of a journal's, each flushed, as the ledger of a task does."""
    for number in range(LINES):
        record = {"t": "answer", "path": f"{number}", "fp": "0" * 64, "result": {"kind": "ok"}}
        Journal(path).append(record)


def _cpu_ms() -> float:
    return sum(os.times()[:4]) * 1e3


def main(calls: int, rounds: int, directory: Path, told: Path) -> None:
    """Let the shapes take turns, and write down what they took."""
    samples: Samples = {}
    for number in range(rounds):
        for shape in SHAPES:
            journal = directory / f"{shape} {number}"
            timed(samples, shape, partial(carried_out, shape, journal, calls), calls)
        again = partial(carried_out, RESUMED, directory / f"{RESUMED} {number}", calls)
        if timed(samples, "replay", again, calls) != 0:
            raise SystemExit("what was recorded was run again")
        timed(samples, "append", partial(append_lines, directory / f"lines {number}"), LINES)
    told.write_text(json.dumps(samples), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
