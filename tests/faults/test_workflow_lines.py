"""Agents that append a line to a file of the workspace: `kill -9` of their workflow repeats none.

The agents are programs, run as steps of a task. Whoever works on the run is killed as soon as the
journal has grown by a size drawn at random, and the run is resumed, until it has ended. A call that
has finished never appends again. One that was at work when its workflow was killed is made again;
an agent that goes on with its conversation and looks there has its line once all the same.
"""

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

import counted
from sandbox import Sandbox
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.workflows.acts.request import ResumeRequest, WorkflowOptions
from siding.workflows.acts.run import (
    WorkflowRequest,
    carry_out,
    make_agents,
    prepare,
    prepare_again,
)
from siding.workflows.acts.scripts import inline
from siding.workflows.journal import read_journal
from siding.workflows.store import RunFolder

from .arena import SEED

pytestmark = pytest.mark.timeout(3600)  # `prove` kills many
KILLS = int(os.environ.get("SIDING_WORKFLOW_KILLS", "5"))  # in each part
LANES = 4
STEP = 900  # bytes of the journal; an answer has about 300
SCRIPT = """
async def blind(n):
    return await agent(f"blind {n}")

async def mindful(said, n):
    return [said, await agent(f"mindful {n}", isolation="turn" if n % 2 else None)]

return await pipeline(list(range(args)), blind, mindful)
"""
AGENT = """#!/bin/sh
# $1 is the prompt, with a sentence before it if the call was cut off; $2 the conversation
said=$(echo "$1" | grep -oE '(blind|mindful) [0-9]+$')
case "$said" in mindful*) grep -qx "$said $2" lines && echo "did $said" && exit;; esac
echo "$said $2" >>lines
sleep 0.05
echo "did $said"
"""
RIGHT = [[f"did blind {n}", f"did mindful {n}"] for n in range(LANES)]


class Killed:
    """A run that is killed again and again, and what was seen."""

    def __init__(self, sandbox: Sandbox, seed: int) -> None:
        self.sandbox = sandbox
        self.kills = self.hit = 0
        self.in_flight: Counter[str] = Counter()  # by prompt: kills while it was at work
        self._random = Random(seed)
        request = WorkflowRequest(
            found=inline(SCRIPT), args=LANES, options=WorkflowOptions(max_concurrency=LANES)
        )
        self.folder: RunFolder = prepare(self.project(), request).folder

    def project(self) -> Project:
        return require_project(open_app(env=self.sandbox.env, cwd=self.sandbox.repo))

    def to_its_end(self) -> None:
        """Kill and resume until it has ended by itself."""
        while self._is_killed():
            self.kills += 1
            begun = read_journal(self.folder.journal).begun.values()
            self.hit += bool(begun)
            self.in_flight.update(each.path for each in begun)

    def _is_killed(self) -> bool:
        size = self._size() + self._random.randint(1, STEP)
        pid = os.fork()
        if pid == 0:
            self._work()
        while self._size() < size:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                assert os.waitstatus_to_exitcode(status) == 0
                return False
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return True

    def _work(self) -> None:
        status = 1
        try:
            prepared = prepare_again(self.project(), self.folder.run_id, ResumeRequest())
            done = carry_out(self.project(), prepared, make_agents, lambda *_: None)
            status = 0 if done.value == RIGHT else 1
            if status:
                print(done, flush=True)  # pytest shows it
        finally:
            os._exit(status)

    def _size(self) -> int:
        journal = self.folder.journal
        return journal.stat().st_size if journal.exists() else 0


def with_agents(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "lines")
    agent = sandbox.directory / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    helper = {"command": [str(agent), "{prompt}", "{session}"]}
    said = {"version": 1, "workflows": {"agent": "helper", "agents": {"helper": helper}}}
    (sandbox.project / "config.yaml").write_text(json.dumps(said))
    return sandbox


@pytest.mark.parametrize("part", range(4))
def test_each_line_is_there_once_but_of_calls_that_were_cut_off(
    sandbox: Sandbox, part: int
) -> None:
    with_agents(sandbox)
    kills = hit = repeated = 0
    lines = sandbox.workspace("lines") / "lines"
    while kills < KILLS:
        run = Killed(sandbox, SEED * 1000 + part * 100 + kills)
        run.to_its_end()
        repeated += _holds(run, lines)
        lines.unlink()
        kills, hit = kills + run.kills, hit + run.hit
    print(f"{kills} kills, {hit} while calls were at work, {repeated} lines were repeated")
    counted.add(kills, acts=hit)
    assert hit * 4 > kills, "too few kills hit a call at work"
    proof = sandbox.json("verify", "lines", "--format", "json")
    assert proof["whole"], proof


def _holds(run: Killed, lines: Path) -> int:
    """Assert what holds of the lines of a run that has ended; return how many are repeated."""
    found = [line.rsplit(" ", 1) for line in lines.read_text().splitlines()]
    times = Counter(prompt for prompt, _session in found)
    cut_off = Counter({_prompt(path): count for path, count in run.in_flight.items()})
    assert set(times) == {f"{kind} {n}" for n in range(LANES) for kind in ("blind", "mindful")}
    for prompt, count in times.items():
        assert count <= 1 + cut_off[prompt], (prompt, count, cut_off)
    talks = Counter((prompt, talk) for prompt, talk in found if prompt.startswith("mindful"))
    assert set(talks.values()) == {1}
    return len(found) - len(times)


def _prompt(path: str) -> str:
    """Return the prompt of a call of the script: ``0.N/0`` and ``0.N/1``."""
    lane, _, number = path.partition("/")
    return f"{('blind', 'mindful')[int(number)]} {lane.partition('.')[2]}"
