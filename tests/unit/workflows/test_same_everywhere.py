"""A run says and records the same in any process: hash seeds, loads and latencies do not count."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from unit.workflows import elsewhere

pytestmark = pytest.mark.timeout(3600)
TESTS = Path(__file__).parents[2]
RUNS = 1 + int(os.environ.get("SIDING_WORKFLOW_LAWS", "1"))
BUSY = "while True: pass"


def run(journal: Path, number: int) -> Any:
    """Run the workflow beside as many busy processes as two, with a hash seed of its own."""
    argv = [sys.executable, elsewhere.__file__, str(journal), str(number), str(1 + 5 * number % 16)]
    env = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": str(number)}
    with ExitStack() as stack:
        for _each in range(number % 3):
            busy = subprocess.Popen([sys.executable, "-S", "-c", BUSY])
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_under_other_hash_seeds_loads_and_latencies(tmp_path: Path) -> None:
    first = run(tmp_path / "0", 0)
    for number in range(1, RUNS):
        assert run(tmp_path / str(number), number) == first, f"with hash seed {number}"
