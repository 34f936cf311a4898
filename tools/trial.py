"""Run the tests of one module on a copy of the package in which it is changed.

Each run is in a fork of this process, which has pytest and Hypothesis loaded already.
"""

import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
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
    cpu_s: float


class Observer:
    """A pytest plugin: chooses the tests, their order and Hypothesis's examples, and tells how they
    went and, with `package`, which functions of its modules each of them called.

    With `only` no other tests are run.
    """

    def __init__(
        self, order: Mapping[str, float], told: Path, *, package: str, only: Collection[str] | None
    ) -> None:
        self.order, self.told, self.package, self.only = order, told, package, only
        self.called: set[str] = set()

    def pytest_sessionstart(self) -> None:
        """After conftest.py, which chooses its own profile, and before any test is loaded."""
        usual = settings.get_profile("siding")
        phases = (Phase.explicit, Phase.generate)  # nobody reads the example: do not shrink it
        settings.register_profile("mutants", parent=usual, derandomize=True, phases=phases)
        settings.load_profile("mutants")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self.only is not None:
            items[:] = [item for item in items if item.nodeid in self.only]
        items.sort(key=lambda item: self.order.get(item.nodeid, 0.0))

    def pytest_runtest_setup(self) -> None:
        self.called.clear()
        if self.package:
            threading.settrace(self._note)
            sys.settrace(self._note)

    def _note(self, frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(self.package):
            self.called.add(f"{code.co_filename.removeprefix(self.package)}:{code.co_name}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.failed:
            with open(self.told, "a", encoding="utf-8") as told:
                told.write(f"{report.outcome} {report.duration} {report.nodeid}\n")
                if self.called:
                    told.write(f"called {' '.join(sorted(self.called))} : {report.nodeid}\n")


class Trial:
    """A copy of the package in which one module is changed, and the tests that are to notice.

    With `by_function` a change in a function is shown only to those tests that call it in the
    process of the tests: what another process calls is not seen.
    """

    def __init__(
        self, scratch: Path, module: str, tests: Sequence[str], *, by_function: bool = False
    ) -> None:
        self.by_function = by_function
        self.callers: dict[str, set[str]] = {}  # the tests by the functions that they call
        self.scratch, self.module, self.tests = scratch, module, tests
        self.path = scratch / "src/siding" / module
        self.source = self.path.read_bytes()
        self.order: dict[str, float] = {}  # of the tests: what failed lately, then the fastest
        self.tried = 0
        self.limit_s = 600.0
        self.limit_cpu_s = 600

    def unchanged(self) -> Verdict:
        """Run the tests on the module as it is: they must pass, and it is the measure of time."""
        verdict = self._recalled() if self.by_function else None
        if verdict is None:
            verdict = self._run(notes_calls=self.by_function)
            if self.by_function and verdict.outcome == SURVIVED:
                kept = (*verdict, self.tests, self._told())
                (self.scratch / "calls").write_text(json.dumps(kept), "utf-8")
        self.limit_s = verdict.took_s * 6 + 10  # others may want the processors too
        self.limit_cpu_s = int(verdict.cpu_s * 2) + 3
        for line in self._told():
            if line.startswith("called "):
                functions, _, name = line.removeprefix("called ").partition(" : ")
                for function in functions.split():
                    self.callers.setdefault(function, set()).add(name)
                continue
            _outcome, took_s, name = line.split(" ", 2)
            self.order[name] = float(took_s)
        return verdict

    def _recalled(self) -> Verdict | None:
        """Return what the unchanged package's run of these tests said, if there was one."""
        try:
            *verdict, tests, told = json.loads((self.scratch / "calls").read_text("utf-8"))
        except FileNotFoundError:
            return None
        if tests != list(self.tests):
            return None
        (self.scratch / "told").write_text("\n".join(told), "utf-8")
        return Verdict(*verdict)

    def verdict(self, mutation: Mutation) -> Verdict:
        """Return what the tests say of the changed module."""
        only = self._callers(mutation.function) if self.by_function else None
        if only is not None and not only:
            return Verdict(SURVIVED, "", 0.0, 0.0)
        self.path.write_bytes(mutation.applied(self.source))
        try:
            found = self._run(only=only)
        finally:
            self.path.write_bytes(self.source)
        self.tried += 1
        if found.test:
            self.order[found.test] = -self.tried
        return found

    def _callers(self, function: str) -> set[str]:
        """Return the tests that call the function; without one, any of the module."""
        if function:
            return self.callers.get(f"{self.module}:{function}", set())
        mine = [found for called, found in self.callers.items() if called.startswith(self.module)]
        return set().union(*mine)

    def _run(self, *, notes_calls: bool = False, only: Collection[str] | None = None) -> Verdict:
        began = time.monotonic()
        (self.scratch / "told").unlink(missing_ok=True)
        pid = os.fork()
        if pid == 0:
            self._become_tests(f"{self.scratch / 'src/siding'}/" if notes_calls else "", only)
        status, cpu_s = _ended(pid, began + self.limit_s)
        took_s = time.monotonic() - began
        failed = [line.split(" ", 2)[2] for line in self._told() if line.startswith("failed ")]
        outcome = STOPPED if status is None else FAILED if status else SURVIVED
        return Verdict(outcome, failed[0] if failed else "", took_s, cpu_s)

    def _told(self) -> list[str]:
        try:
            return (self.scratch / "told").read_text("utf-8").splitlines()
        except FileNotFoundError:
            return []  # the module could not be loaded

    def _become_tests(self, package: str, only: Collection[str] | None) -> NoReturn:
        status: int = 70
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (self.limit_cpu_s, self.limit_cpu_s))
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
            told = self.scratch / "told"
            observer = Observer(self.order, told, package=package, only=only)
            status = int(pytest.main(options, plugins=[observer]))
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


def _ended(pid: int, end: float) -> tuple[int | None, float]:
    """Wait for a process and end all that it left; return its status, None when it was stopped,
    and its processor time."""
    done = 0
    while not done and time.monotonic() < end:
        time.sleep(0.005)
        done, told, used = os.wait4(pid, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if not done:
        _, told, used = os.wait4(pid, 0)
    status = os.waitstatus_to_exitcode(told)
    stopped = not done or status in (-signal.SIGXCPU, -signal.SIGKILL)
    return None if stopped else status, used.ru_utime + used.ru_stime
