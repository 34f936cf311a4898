"""The first hour on macOS, with its platform faked: `tests/as_on_macos` says what is, and what not.

That a module can be loaded, and that no call which macOS lacks is on a common path.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox import Sandbox

FAKE = Path(__file__).parents[1] / "as_on_macos"
# It reads the build of Python that it runs in, which is Linux's.
NOT_LOADED = {"siding.agents.acp.bridge_program"}

_LOAD_ALL = """
import importlib, pkgutil, sys
import siding
assert sys.platform == "darwin"
for found in pkgutil.walk_packages(siding.__path__, "siding."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except Exception as error:
            print(found.name, repr(error))
from siding.ground.files import exchange
assert (exchange._NOREPLACE, exchange._EXCHANGE) == (4, 2)  # RENAME_EXCL, RENAME_SWAP
"""


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.env["PYTHONPATH"] = os.fspath(FAKE)
    sandbox.siding("-q", "task", "start", "demo")
    return sandbox


@pytest.mark.skipif(sys.platform != "linux", reason="it is the platform that is faked")
class TestFaked:
    def test_every_module_can_be_loaded(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", _LOAD_ALL],
            env={"PYTHONPATH": os.fspath(FAKE)},
            capture_output=True,
            check=True,
            text=True,
        )
        failed = {line.split()[0]: line for line in done.stdout.splitlines()}
        assert failed.keys() <= NOT_LOADED, failed

    def test_the_first_hour(self, task: Sandbox) -> None:
        task.siding("run", "--", "sh", "-c", "echo one >one; echo two >two")
        patch = task.siding("diff").stdout
        assert b"+one" in patch
        task.siding("undo")
        assert task.siding("diff").stdout == b""
        task.siding("undo", status=1)
        task.siding("redo")
        assert task.siding("diff").stdout == patch
        assert [step["kind"] for step in task.steps()] == ["run", "rollback", "rollback"]
        task.siding("-q", "apply")
        assert (task.repo / "one").read_text() == "one\n"

    def test_a_run_in_the_background_is_found_and_stopped(self, task: Sandbox) -> None:
        task.siding("run", "--detach", "--name", "bg", "--", "sh", "-c", "echo up; sleep 100")
        end = time.monotonic() + 30
        while b"up" not in task.siding("output", "bg").stdout:
            assert time.monotonic() < end
        (run,) = task.json("runs", "--json")
        assert run["name"] == "bg"
        task.siding("stop", "bg")
        assert task.json("runs", "--json") == []
        assert task.steps()[-1]["status"] == "interrupted"

    def test_what_a_command_leaves_behind_is_found_by_its_group(self, task: Sandbox) -> None:
        done = task.siding("run", "--", "sh", "-c", "sleep 100 >/dev/null 2>&1 & exit 3", status=3)
        assert b"left running: process" in done.stderr
        task.siding("stop", "--all")
        assert task.json("runs", "--json") == []
