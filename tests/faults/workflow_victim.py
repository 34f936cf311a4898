"""A run of a workflow as a process of its own: the victim of `test_workflow_faults`.

    workflow_victim.py DIRECTORY SEED LANES

The journal is ``DIRECTORY/journal.jsonl``. Each agent appends to ``DIRECTORY/work``, flushed,
when it begins (``+ path session``) and when it ends (``- path``). The result goes to
``DIRECTORY/result``, and the exit status is 0, when the run is completed.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from siding.process.programs.linked import start_linked
from siding.workflows.calls import AgentCall, Attempt, CommandCall, Question
from siding.workflows.engine.engine import Engine, run_to_end
from siding.workflows.engine.plan import Ports, RunPlan
from siding.workflows.engine.ports import Report
from siding.workflows.limits import Limits
from siding.workflows.outcome import Done, Outcome, Work
from siding.workflows.script import read_script
from siding.workflows.start_script import SCRIPT_ENVIRONMENT, script_argv

SCRIPT = """
async def first(item):
    return await agent(f"first {item}")

async def second(before, item):
    return await agent(f"second {item} after {before}")

return await pipeline(list(range(args)), first, second)
"""


class Workers:
    """Agents that write down that they work."""

    def __init__(self, directory: Path, seed: int) -> None:
        self._fd = os.open(directory / "work", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._random = Random(seed)
        self._prefix = f"{seed}-"

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        report(Report(work=Work(session=attempt.session or self._prefix + call.path)))
        self._write(f"+ {call.path} {attempt.session}")
        await asyncio.sleep(self._random.random() * 0.02)
        self._write(f"- {call.path}")
        return Done(output=f"<{call.prompt}>")

    def _write(self, line: str) -> None:
        os.write(self._fd, line.encode() + b"\n")
        os.fsync(self._fd)


class Nobody:
    """The people, the workspaces and the other workflows of a script that has none."""

    async def ask(self, question: Question) -> object:
        raise AssertionError(question)

    async def run(self, call: CommandCall) -> Mapping[str, object]:
        raise AssertionError(call)

    async def bring_back(self, fork: str) -> Mapping[str, object]:
        raise AssertionError(fork)

    def named(self, name: str) -> str:
        raise AssertionError(name)

    def at(self, path: str) -> str:
        raise AssertionError(path)


def main(directory: Path, seed: int, lanes: int) -> int:
    """Run the workflow from what its journal has to its end; return the exit status."""
    workers, nobody = Workers(directory, seed), Nobody()
    ports = Ports(
        agents=workers,
        people=nobody,
        workspaces=nobody,
        sources=nobody,
        start_script=lambda: start_linked(script_argv(), env=SCRIPT_ENVIRONMENT, cwd=Path("/")),
        emit=lambda _event: None,
        now=lambda: 0.0,
        random=lambda: 0.0,
        stamp=lambda: "2026-01-01T00:00:00.000Z",
    )
    plan = RunPlan(
        script=read_script(SCRIPT),
        journal=directory / "journal.jsonl",
        args=lanes,
        limits=Limits(concurrency=16),
    )
    done = run_to_end(Engine(plan, ports))
    (directory / "result").write_text(json.dumps(done.value))
    return 0 if done.status == "completed" else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
