"""A run of a workflow is killed: what finished never runs again, and the result is right.

Twelve lanes of two stages, agents that take a random time, ``kill -9`` as soon as the journal has
grown to a size drawn at random: so a kill comes at any of its writes, and while calls are at work.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from siding.workflows.journal import read_journal

from . import workflow_victim

pytestmark = pytest.mark.timeout(3600)  # `prove` kills many
KILLS = int(os.environ.get("SIDING_WORKFLOW_KILLS", "2"))  # in each part
LANES = 12
RIGHT = workflow_victim.right_result(LANES)
WHOLE_JOURNAL = 9_000  # bytes, about


def start(directory: Path, seed: int) -> "subprocess.Popen[bytes]":
    argv = [sys.executable, workflow_victim.__file__, str(directory), str(seed), str(LANES)]
    return subprocess.Popen(
        argv,
        start_new_session=True,
        env={**os.environ, "PYTHONHASHSEED": ""},
        stdout=subprocess.DEVNULL,
    )


def killed_at_size(program: "subprocess.Popen[bytes]", journal: Path, size: int) -> bool:
    """Kill a program when its journal has a size; False if it had ended before."""
    while program.poll() is None:
        if journal.exists() and journal.stat().st_size >= size:
            program.send_signal(signal.SIGKILL)
            program.wait()
            return True
        time.sleep(0.0005)
    return False


def finished(journal: Path) -> dict[str, str]:
    return {
        path: one.result["output"]
        for path, one in read_journal(journal).answers.items()
        if one.kind == "agent"
    }


def work(directory: Path) -> list[list[str]]:
    path = directory / "work"
    return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("part", range(4))
def test_killed_at_any_size_of_its_journal(tmp_path: Path, part: int) -> None:
    random = Random(4 * int(os.environ.get("SIDING_FAULTS_SEED", "1")) + part)
    kills = in_flight = number = 0
    while kills < KILLS:
        directory = tmp_path / str(number)
        directory.mkdir()
        number += 1
        journal = directory / "journal.jsonl"
        before: dict[str, str] = {}
        sessions: dict[str, str] = {}
        for life in range(1000):
            done_before, seen = set(before), len(work(directory))
            size = journal.stat().st_size if journal.exists() else 0
            wanted = size + random.randint(1, WHOLE_JOURNAL // 3)
            program = start(directory, life)
            was_killed = killed_at_size(program, journal, wanted)
            assert was_killed or program.returncode == 0
            now = work(directory)[seen:]
            begun = [line[1] for line in now if line[0] == "+"]
            assert not done_before & set(begun), "a finished call ran again"
            assert max(Counter(begun).values(), default=0) <= 1
            for sign, path, *session in now:
                if sign == "+" and path in sessions:
                    assert session == [sessions[path]], "it was not given its session again"
            if not was_killed:
                break
            kills += 1
            recorded = read_journal(journal)
            before = finished(journal)
            sessions = {p: one.session for p, one in recorded.begun.items() if one.session}
            in_flight += bool(sessions)
        assert json.loads((directory / "result").read_text()) == RIGHT
        assert len(finished(journal)) == 2 * LANES
    assert in_flight * 4 >= kills
