"""A run of a workflow as a process of its own: the victim of `test_workflow_faults`.

    workflow_victim.py DIRECTORY SEED LANES

The journal is ``DIRECTORY/journal.jsonl``. Each agent appends to ``DIRECTORY/work``, flushed,
when it begins (``+ path session``) and when it ends (``- path``). ``given STAGE ITEM`` is printed
when the script has got the result of an agent, and how the run ended at the end. The result goes to
``DIRECTORY/result``, and the exit status is 0, when the run is completed.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from siding.ground.process.dialogue import start_linked
from siding.workflows.acts.script_process import SCRIPT_ENVIRONMENT, script_argv
from siding.workflows.engine.engine import Engine
from siding.workflows.engine.plan import Ports, RunPlan
from siding.workflows.engine.ports import AgentCall, Attempt, CommandCall, Question, Report
from siding.workflows.events import Event, Logged, RunDone
from siding.workflows.limits import Limits
from siding.workflows.outcome import Done, Outcome, Work
from siding.workflows.script import read_script

SCRIPT = """
async def first(item):
    said = await agent(f"first {item}")
    log(f"given first {item}")
    return said

async def second(before, item):
    said = await agent(f"second {item} after {before}")
    log(f"given second {item}")
    return said

return await pipeline(list(range(args)), first, second)
"""


class Workers:
    """Agents that write down that they work."""

    def __init__(self, directory: Path, seed: int) -> None:
        path = directory / "work"
        is_torn = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        if is_torn:
            os.write(self._fd, b"\n")
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


def right_result(lanes: int) -> list[str]:
    """Return what the script returns, whatever happened meanwhile."""
    return [f"<second {n} after <first {n}>>" for n in range(lanes)]


def run(directory: Path, seed: int, lanes: int, say: Callable[[str], None]) -> RunDone:
    """Run the workflow from what its journal has to its end. Raises OSError."""

    def emit(event: Event) -> None:
        if isinstance(event, Logged) and event.message.startswith("given "):
            say(event.message)

    workers, nobody = Workers(directory, seed), Nobody()
    ports = Ports(
        agents=workers,
        people=nobody,
        workspaces=nobody,
        sources=nobody,
        start_script=lambda: start_linked(script_argv(), env=SCRIPT_ENVIRONMENT, cwd=Path("/")),
        emit=emit,
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
    return asyncio.run(Engine(plan, ports).run())


def main(directory: Path, seed: int, lanes: int) -> int:
    """Run it as a command; return the exit status."""
    try:
        done = run(directory, seed, lanes, lambda text: print(text, flush=True))
    except OSError as error:  # before anything began
        print(f"error: {error}", file=sys.stderr)
        return 1
    if done.status != "completed":
        print(f"ended {done.kind}: {done.error}", flush=True)
        return 1
    (directory / "result").write_text(json.dumps(done.value))
    print("ended well", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
