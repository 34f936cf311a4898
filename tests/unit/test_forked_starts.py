"""What a forked command starts of Siding is a fork, and as the started program would be."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]

_START = """
import json, os, signal, sys, tempfile
from pathlib import Path
import forked_starts, siding
from siding.ground.process.capture import run_captured
is_forked, words, env, cwd = json.loads(sys.argv[1])
if is_forked:
    forked_starts.use()
    siding.__version__ = "of the one that forks"
kept = tempfile.TemporaryDirectory()
locked = os.open(kept.name, os.O_RDONLY)
signal.signal(signal.SIGTERM, lambda *_: None)
program = [sys.executable, "-m", "siding", *words]
done = run_captured(program, env=env, cwd=None if cwd is None else Path(cwd))
assert os.path.isdir(kept.name) and os.fstat(locked)
print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]))
"""


def started(words: list[str], env: dict[str, str], cwd: Path | None, *, forked: bool) -> Any:
    given = json.dumps([forked, words, env, cwd and os.fspath(cwd)])
    done = subprocess.run(
        [sys.executable, "-c", _START, given, " " * 4000],
        env={**os.environ, "PYTHONPATH": os.fspath(TESTS), "ROOM": " " * 4000},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("words", [["log"], ["nonsense"]], ids=str)
def test_it_says_and_ends_as_the_program_does(tmp_path: Path, words: list[str]) -> None:
    env = {"HOME": os.fspath(tmp_path), "PATH": os.environ["PATH"]}
    forked, program = (started(words, env, tmp_path, forked=each) for each in (True, False))
    assert forked == program
    assert forked[0] != 0


def test_it_is_a_fork(tmp_path: Path) -> None:
    env = {"HOME": os.fspath(tmp_path), "PATH": os.environ["PATH"]}
    assert started(["--version"], env, None, forked=True)[1] == "siding of the one that forks\n"


def test_python_that_is_told_something_is_started(tmp_path: Path) -> None:
    env = {"HOME": os.fspath(tmp_path), "PATH": os.environ["PATH"], "PYTHONUTF8": "1"}
    assert "of the one that forks" not in started(["--version"], env, None, forked=True)[1]
