"""The process of a script is killed or stopped in the middle of a run."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import alive
from siding.workflows.engine.ports import AgentCall, Attempt, CannotRecord, Report
from siding.workflows.outcome import Done, Outcome
from unit.workflows.world import ScriptedAgents, run_script

SCRIPT = "return [await agent(x) for x in 'abc']"
SILENCE_S = 0.5


class Hostile(ScriptedAgents):
    """Agents of which the second one sends signals to the process of its script."""

    def __init__(self, number: int, *, times: int = 1) -> None:
        super().__init__({})
        self.struck: list[int] = []
        self._number = number
        self._times = times

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        self.calls.append(call.prompt)
        if call.prompt != "a" and len(self.struck) < self._times:
            self.struck.append(_script())
            os.kill(self.struck[-1], self._number)
        return Done(output=call.prompt)


def _script() -> int:
    """Return the process of the script: a child of ours."""
    children = [
        int(word)
        for found in Path("/proc/self/task").glob("*/children")
        for word in found.read_text().split()
    ]
    (pid,) = [pid for pid in children if b"workflows.child" in _command(pid)]
    return pid


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


class Full(ScriptedAgents):
    """Agents of which the second one finds no room on the disk."""

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        self.calls.append(call.prompt)
        if call.prompt == "b":
            raise CannotRecord("the disk is full")
        return Done(output=call.prompt)


def test_a_disk_that_cannot_hold_what_agents_do_ends_the_run_at_once(tmp_path: Path) -> None:
    ran = run_script(tmp_path / "journal", SCRIPT, Full({}), retries_script=True)
    assert (ran.done.status, ran.done.kind) == ("failed", "disk")
    assert (ran.done.error, ran.agents.calls) == ("the disk is full", ["a", "b"])
    again = run_script(tmp_path / "journal", SCRIPT, {"*": "<prompt>"})
    assert (again.done.value, again.agents.calls) == (["a", "b", "c"], ["b", "c"])


def test_one_that_was_killed_runs_once_more_from_the_record(tmp_path: Path) -> None:
    agents = Hostile(signal.SIGKILL)
    ran = run_script(tmp_path / "journal", SCRIPT, agents, retries_script=True)
    assert ran.done.value == ["a", "b", "c"]
    assert agents.calls.count("a") == 1
    assert [each for each in ran.warnings if "ended unexpectedly: Killed" in each]


def test_one_that_is_killed_again_fails_and_can_be_resumed(tmp_path: Path) -> None:
    journal, agents = tmp_path / "journal", Hostile(signal.SIGKILL, times=2)
    ran = run_script(journal, SCRIPT, agents, retries_script=True)
    assert (ran.done.status, ran.done.kind) == ("failed", "script-process")
    assert ran.done.error == "the script's process ended unexpectedly: Killed"
    again = run_script(journal, SCRIPT, {"*": "<prompt>"})
    assert again.done.value == ["a", "b", "c"]
    assert "a" not in again.agents.calls


def test_one_that_was_stopped_is_noticed_and_ended(tmp_path: Path) -> None:
    journal, agents = tmp_path / "journal", Hostile(signal.SIGSTOP)
    ran = run_script(journal, SCRIPT, agents, silence_s=SILENCE_S, retries_script=True)
    assert (ran.done.status, ran.done.kind) == ("failed", "silent")
    assert "somebody has stopped its process" in ran.done.error
    assert not alive(agents.struck[0])
    again = run_script(journal, SCRIPT, {"*": "<prompt>"})
    assert (again.done.value, again.agents.calls) == (["a", "b", "c"], ["c"])


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ("", "status 3"),
        ("bwrap: no such place\n\n", "status 3 (bwrap: no such place)"),
        ("one\nthe last\r\n", "status 3 (the last)"),
        ("x" * 100_000, f"status 3 ({'x' * 500})"),
    ],
)
def test_one_that_cannot_begin_says_what_it_complained_about(
    tmp_path: Path, says: str, told: str
) -> None:
    program = (
        "import os, sys\n"
        "try: os.write(2, sys.argv[1].encode() * int(sys.argv[2]))\n"
        "finally: os._exit(3)"
    )
    repeated = ("x", "100000") if len(says) > 1000 else (says, "1")
    ran = run_script(
        tmp_path / "journal", SCRIPT, process=(sys.executable, "-c", program, *repeated)
    )
    assert (ran.done.status, ran.done.kind) == ("failed", "script-process")
    assert ran.done.error == f"the script's process ended unexpectedly: {told}"
