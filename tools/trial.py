"""Run the tests of one module on a copy of the package in which it is changed.

Each run is in a fork of this process, which has pytest and Hypothesis loaded already.
"""

import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

import hypothesis.stateful  # noqa: F401 - so that no fork has to load it
import pytest
from hypothesis import Phase, settings

from tools.mutations import Mutation

CHECKOUT = Path(__file__).resolve().parents[1]
OPTIONS = (
    *("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # of plugins: loaded before the fork
)
SURVIVED, FAILED, STOPPED = "survived", "killed", "timeout"


class Verdict(NamedTuple):
    """How the tests ended, the test that failed first, and what it took."""

    outcome: str
    test: str
    took_s: float


class Observer:
    """A pytest plugin: chooses the order and Hypothesis's examples, and tells what failed."""

    def __init__(self, first: Sequence[str], tell: int) -> None:
        self.first = {name: place for place, name in enumerate(first)}
        self.tell = tell

    def pytest_sessionstart(self) -> None:
        """After conftest.py, which chooses its own profile, and before any test is loaded."""
        usual = settings.get_profile("siding")
        phases = (Phase.explicit, Phase.generate)  # nobody reads the example: do not shrink it
        settings.register_profile("mutants", parent=usual, derandomize=True, phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.first.get(item.nodeid, len(self.first)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            os.write(self.tell, report.nodeid.encode() + b"\n")


class Trial:
    """A copy of the package in which one module is changed, and the tests that are to notice."""

    def __init__(self, scratch: Path, module: str, tests: Sequence[str]) -> None:
        self.scratch, self.module, self.tests = scratch, module, tests
        self.path = scratch / "src/siding" / module
        self.source = self.path.read_bytes()
        self.first: list[str] = []  # the tests that failed lately
        self.limit_s = 600.0

    def unchanged(self) -> Verdict:
        """Run the tests on the module as it is: they must pass, and it is the measure of time."""
        verdict = self._run()
        if verdict.outcome == SURVIVED:
            self.limit_s = verdict.took_s * 4 + 10
        return verdict

    def verdict(self, mutation: Mutation) -> Verdict:
        """Return what the tests say of the changed module."""
        self.path.write_bytes(mutation.applied(self.source))
        try:
            found = self._run()
        finally:
            self.path.write_bytes(self.source)
        if found.test:
            self.first = [found.test, *(name for name in self.first if name != found.test)][:20]
        return found

    def _run(self) -> Verdict:
        began = time.monotonic()
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            self._become_tests(writing)
        os.close(writing)
        status = _ended(pid, began + self.limit_s)
        with open(reading, "rb") as pipe:
            failed = pipe.readline().decode().strip()
        took_s = time.monotonic() - began
        if status is None:
            return Verdict(STOPPED, failed, took_s)
        return Verdict(FAILED if status else SURVIVED, failed, took_s)

    def _become_tests(self, tell: int) -> NoReturn:
        status: int = 70
        try:
            os.setsid()
            most = int(self.limit_s) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            out = os.open(self.scratch / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            # A module's cached code is told from another's by time and size, too roughly for us.
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            os.environ["PYTHONPATH"] = str(self.scratch / "src")
            sys.path[:0] = [str(self.scratch / "src"), str(CHECKOUT / "tests")]
            _without_commands()
            options = [*OPTIONS, f"--basetemp={self.scratch / 'tmp'}", *self.tests]
            status = int(pytest.main(options, plugins=[Observer(self.first, tell)]))
            import siding

            if siding.__file__ != str(self.scratch / "src/siding/__init__.py"):
                status = 71
        except BaseException:  # noqa: BLE001 - a forked child must never return
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)


def _without_commands() -> None:
    """Let conftest.py not load all of Siding in a process of its own: no test here asks it."""
    import forked

    really, calls = forked.start, []

    def start() -> str:
        calls.append(1)
        return "" if len(calls) == 1 else really()

    forked.start = start  # type: ignore[assignment]  # a plain function for a cached one


def _ended(pid: int, end: float) -> int | None:
    """Wait for a process and end all that it left; return its status, None when it was stopped."""
    status: int | None = None
    while time.monotonic() < end:
        done, told = os.waitpid(pid, os.WNOHANG)
        if done:
            status = os.waitstatus_to_exitcode(told)
            break
        time.sleep(0.005)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if status is None:
        os.waitpid(pid, 0)
    return None if status == -signal.SIGXCPU else status
