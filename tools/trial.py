"""The tests as one session of pytest that is forked for each change: nothing is loaded again.

A plugin takes the place of pytest's loop. First tests run once, in a fork, and it is noted how long
each took and which lines of the chosen modules it ran, in whatever process. Then each change is
tried in a fork of its own by the tests that ran its line: those that found the latest changes
first, then the fastest, until one fails. A fork has the change by `site/sitecustomize.py`, and so
have the commands that the tests fork and start.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest
from _pytest.runner import runtestprotocol

from tools.in_place import replaceable
from tools.mutations import Mutation

CHECKOUT = Path(__file__).resolve().parents[1]
OPTIONS = (
    *("-s", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--no-summary"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
SURVIVED, FAILED, STOPPED = "survived", "killed", "timeout"
_STOPPED_BY = (-signal.SIGXCPU, -signal.SIGALRM, -signal.SIGKILL)


class Verdict(NamedTuple):
    """How the tests of a change ended, how many ran its line, and which failed first."""

    outcome: str
    tests: int
    test: str = ""


class Trial:
    """A pytest plugin: the session in which changes are tried, and what is known of its tests.

    `most_s` is how long the tests of one change may take together: the fastest are chosen.
    """

    def __init__(
        self, scratch: Path, modules: Sequence[str], most_s: float, work: Callable[["Trial"], None]
    ) -> None:
        self.scratch, self.modules, self.most_s, self.work = scratch, modules, most_s, work
        self.took_s: dict[str, float] = {}
        self.lines: dict[str, set[tuple[str, int]]] = {}  # what each test runs
        self.latest: dict[str, int] = {}  # tests that found a change, by its number
        self.items: dict[str, pytest.Item] = {}
        self.tried = 0

    def pytest_sessionstart(self) -> None:
        """After conftest.py, which chooses its own profile, and before any test is loaded."""
        from hypothesis import Phase, settings

        usual = settings.get_profile("siding")
        phases = (Phase.explicit, Phase.generate)  # nobody reads the example: do not shrink it
        settings.register_profile("mutants", parent=usual, derandomize=True, phases=phases)
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        import forked

        if session.testsfailed:
            return False  # some could not be loaded
        self.items = {item.nodeid: item for item in session.items}
        forked.start()  # once, and without a change
        self.work(self)
        return True

    def path(self, module: str) -> Path:
        return self.scratch / "src/siding" / module

    def files(self) -> dict[str, list[str]]:
        """Return the tests by their files, in the order in which pytest has them."""
        found: dict[str, list[str]] = {}
        for test in self.items:
            found.setdefault(test.partition("::")[0], []).append(test)
        return found

    def note(self, tests: Iterable[str]) -> None:
        """Run these tests once: they are asked from here on, but for those that fail now."""
        self.took_s.clear()
        self.lines.clear()
        (self.scratch / "noting").write_text("\n".join(str(self.path(m)) for m in self.modules))
        told = self.scratch / "told"
        items = [self.items[test] for test in tests]
        _, status = self._forked(lambda: self._run_noted(items, told))
        (self.scratch / "noting").unlink()
        assert status == 0, (self.scratch / "out").read_text(errors="replace")[-3000:]
        for line in told.read_text("utf-8").splitlines():
            test, took_s, failed, places = json.loads(line)
            if failed:
                print(f"fails without any change and is not asked: {test}", flush=True)
                continue
            self.took_s[test] = took_s
            self.lines[test] = {(path, int(number)) for number, path in places}

    def _run_noted(self, items: Sequence[pytest.Item], told: Path) -> int:
        sitecustomize = import_module("sitecustomize")  # of `site/`: loaded at Python's start
        lines = self.scratch / "lines"
        lines.touch()
        with told.open("w", encoding="utf-8") as out:
            for item, following in _each_with_next(items):
                os.truncate(lines, 0)
                sitecustomize.begin()  # again: an error while a line was noted ends it
                began = time.monotonic()
                failed = _fails(item, following)
                places = [line.split(" ", 1) for line in lines.read_text("utf-8").splitlines()]
                out.write(json.dumps([item.nodeid, time.monotonic() - began, failed, places]))
                out.write("\n")
        return 0

    def verdict(self, module: str, mutation: Mutation) -> Verdict:
        """Return what the tests that run the changed line say."""
        path = self.path(module)
        tests = self._tests(str(path), mutation)
        if not tests:
            return Verdict(SURVIVED, 0)
        source = path.read_bytes()
        changed = mutation.applied(source)
        name = "siding." + module.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        path.write_bytes(changed)
        (self.scratch / "change").write_text(name)
        try:
            loaded = sys.modules.get(name)
            if loaded is not None and replaceable(loaded, source, changed):
                failed, status = self._forked(lambda: self._run_changed(tests))
            else:
                failed, status = self._forked(lambda: self._run_fresh(tests))
        finally:
            path.write_bytes(source)
            (self.scratch / "change").unlink()
        self.tried += 1
        if failed:
            self.latest[failed] = self.tried
        outcome = SURVIVED if status == 0 else STOPPED if status in _STOPPED_BY else FAILED
        return Verdict(outcome, len(tests), failed)

    def _tests(self, path: str, mutation: Mutation) -> list[str]:
        """Choose the tests that run the line; what a module does when it is loaded, none runs."""
        numbers = mutation.lines if mutation.function else None
        tests = [
            test
            for test, lines in self.lines.items()
            if any(where == path and (not numbers or line in numbers) for where, line in lines)
        ]
        ranks = self._ranks(tests)
        tests.sort(key=lambda test: (-self.latest.get(test, 0), ranks[test], self.took_s[test]))
        chosen: list[str] = []
        room_s = self.most_s
        for test in tests:
            room_s -= self.took_s[test]
            if room_s >= 0 or not chosen:
                chosen.append(test)
        return chosen

    def _ranks(self, tests: Iterable[str]) -> dict[str, int]:
        """Number the tests of each file, the fastest first: each file says something of its own."""
        met = Counter[str]()
        ranks = {}
        for test in sorted(tests, key=lambda test: self.took_s[test]):
            file = test.partition("::")[0]
            ranks[test] = met[file]
            met[file] += 1
        return ranks

    def _run_changed(self, tests: Sequence[str]) -> int:
        for item, following in _each_with_next([self.items[test] for test in tests]):
            # Others may want the processors too: twelve times as long is long enough.
            signal.setitimer(signal.ITIMER_REAL, 12 * self.took_s[item.nodeid] + 10)
            if _fails(item, following):
                (self.scratch / "told").write_text(item.nodeid)
                return 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        return 0

    def _run_fresh(self, tests: Sequence[str]) -> NoReturn:
        os.environ["PYTHONPATH"] = f"{self.scratch / 'src'}:{CHECKOUT}"
        signal.setitimer(signal.ITIMER_REAL, 12 * sum(self.took_s[test] for test in tests) + 60)
        options = [*OPTIONS, "-q", f"--basetemp={self.scratch / 'tmp'}", *tests]
        os.execv(sys.executable, [sys.executable, "-m", "pytest", *options])

    def _forked(self, run: Callable[[], int]) -> tuple[str, int]:
        """Run this in a fork; return the test that failed there, and the exit status."""
        told = self.scratch / "told"
        told.unlink(missing_ok=True)
        pid = os.fork()
        if pid == 0:
            self._become(run)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _remove(self.scratch / "tmp")
        return told.read_text("utf-8") if told.exists() and status == 1 else "", status

    def _become(self, run: Callable[[], int]) -> NoReturn:
        status = 70
        try:
            os.setsid()
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # it would be told by size and second
            out = os.open(self.scratch / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            _, most = resource.getrlimit(resource.RLIMIT_CPU)
            used = int(time.process_time())
            resource.setrlimit(resource.RLIMIT_CPU, (used + 900, most))
            config = next(iter(self.items.values())).config
            (self.scratch / "tmp").mkdir(mode=0o700)
            config._tmp_path_factory._basetemp = self.scratch / "tmp"  # type: ignore[attr-defined]
            status = run()
        except BaseException:  # noqa: BLE001 - a forked child must never return
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)


def _fails(item: pytest.Item, following: pytest.Item | None) -> bool:
    reports = runtestprotocol(item, log=False, nextitem=following)
    for report in reports:
        if report.failed:
            print(item.nodeid, report.longreprtext, sep="\n", flush=True)
    return any(report.failed for report in reports)


def _each_with_next(items: Sequence[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(items, [*items[1:], None], strict=True)


def _remove(directory: Path) -> None:
    """Remove what tests left, some of it without a permission to write."""
    if directory.exists():
        subprocess.run(["chmod", "-R", "u+rwX", str(directory)], check=False, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)
