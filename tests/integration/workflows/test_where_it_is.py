"""Siding is installed in a place that the sandbox of a script has anew: its process finds it."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import installed
from bwrap import needs_bwrap
from sandbox import Sandbox

MEMORY = Path("/dev/shm")


@pytest.fixture
def below_dev() -> Iterator[Path]:
    if not os.access(MEMORY, os.W_OK):
        pytest.skip(f"there is no {MEMORY} to write to")
    with tempfile.TemporaryDirectory(prefix="siding-installed-", dir=MEMORY) as directory:
        shutil.copytree(installed.package(), Path(directory, "siding"))
        yield Path(directory)


@needs_bwrap
def test_below_dev(sandbox: Sandbox, below_dev: Path) -> None:
    sandbox.siding("task", "start", "flows")
    script = sandbox.repo / "one.py"
    script.write_text("return 6 * 7")
    command = (sys.executable, "-P", "-m", "siding", "workflow", "run", str(script))
    done = subprocess.run(
        command,
        cwd=sandbox.repo,
        env={**sandbox.env, "PYTHONPATH": str(below_dev)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"42\n"), done.stderr.decode()
