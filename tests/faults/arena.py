"""Private directories, commands and worker processes: what every gate stands on.

An arena owns one `case` directory. A gate fills it once (setup), keeps a copy as the template, and
puts the copy back before each case. The path of the case never changes, because git worktrees and
our own files hold absolute paths.
"""

import hashlib
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import isfunction
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import NamedTuple, NoReturn, TypeVar

import counted
import left_to_prove

from .apart import ALWAYS, on_two_file_systems, remove_apart, restore_apart, save_apart
from .copies import adopt, copy_tree, remove_tree

Setup = Callable[[Path], None]
Check = Callable[[Path, list[str]], None]
Share = TypeVar("Share")
Item = TypeVar("Item")

SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
FULL = os.environ.get("SIDING_FAULTS") == "full"
EVERY = FULL or os.environ.get("SIDING_FAULTS") == "every"  # no samples
TIMES = int(os.environ.get("SIDING_FAULTS_TIMES", "1"))  # how much larger every budget is
KEEP = os.environ.get("SIDING_FAULTS_KEEP")  # a directory for the case of each failure
REPORT = os.environ.get("SIDING_FAULTS_REPORT")  # a file for what each gate ran, a line each

_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": "{case}",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
}


class GateBroken(Exception):
    """The gate proves nothing: no case ran, or the run without a fault already fails."""


class GateFailed(AssertionError):
    """At least one case broke a promise. `failures` names each one."""

    def __init__(self, gate: str, failures: Sequence[str]) -> None:
        self.failures = tuple(failures)
        shown = "\n".join(failures[:8])
        more = f"\n… and {len(failures) - 8} more" if len(failures) > 8 else ""
        super().__init__(f"{gate}: {len(failures)} cases failed\n{shown}{more}")


class Report(NamedTuple):
    """What a gate ran: `cases` under a fault, over `calls` counted system calls (or disk steps)."""

    cases: int
    calls: int
    failures: tuple[str, ...] = ()
    missed: int = 0
    by_mode: Mapping[str, int] = {}


class Command(NamedTuple):
    """One command line. "{case}" in argv, env and cwd stands for the case directory."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = {}
    cwd: str = "{case}"


class Ran(NamedTuple):
    status: int
    stdout: str
    stderr: str


def python(code: str, *args: str, env: Mapping[str, str] | None = None) -> Command:
    """A Python program run in the case directory, isolated, with this test run's interpreter."""
    return Command(argv=(sys.executable, "-I", "-c", code, *args), env=env or {})


def resolve(command: Command, case: Path) -> tuple[list[str], dict[str, str], str]:
    """argv, environment and cwd of a command in a case directory."""

    def fill(text: str) -> str:
        return text.replace("{case}", str(case))

    env = {name: fill(value) for name, value in {**_ENVIRONMENT, **command.env}.items()}
    return [fill(word) for word in command.argv], env, fill(command.cwd)


def run(case: Path, command: Command, *, timeout_s: float = 30) -> Ran:
    """Runs a command undisturbed: for setups and checks."""
    argv, env, cwd = resolve(command, case)
    done = subprocess.run(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    return Ran(
        status=done.returncode,
        stdout=done.stdout.decode("utf-8", "replace"),
        stderr=done.stderr.decode("utf-8", "replace"),
    )


def name_of(function: Callable[..., object]) -> str | None:
    """The name of a setup or a check; None for one that is made anew for each gate."""
    name = f"{function.__module__}.{function.__qualname__}" if isfunction(function) else "<"
    return None if "<" in name else name


def name_for(kind: str, setup: Setup, check: Check, *more: object) -> str | None:
    """A name for what depends on these alone; None where a function has none."""
    parts = (name_of(setup), name_of(check), *more)
    digest = hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
    return None if None in parts[:2] else f"{kind}-{digest}"


class Arena:
    """The directories of one worker; its case directory is the only one a command should touch."""

    def __init__(self, base: Path) -> None:
        self.base, self.case, self.template = base, base / "case", base / "template"
        self.stdout, self.stderr = base / "stdout", base / "stderr"
        base.mkdir()

    def prepare(self, setup: Setup) -> None:
        """Make what each case begins with, or take it from a gate before with the same setup."""
        if ALWAYS:
            setup = on_two_file_systems(setup)
        self.template = self.beside(name_of(setup)) or self.template
        if self.template.exists():
            self.fresh()
            return
        self.case.mkdir()
        try:
            setup(self.case)
        except Exception as error:
            raise GateBroken(f"setup failed: {_reason(error)}") from error
        self.save(self.template)

    def beside(self, name: str | None) -> Path | None:
        """Where this worker keeps something for the gates after this one; nowhere without a name.

        It holds absolute paths: it is of use to this worker's number alone.
        """
        return None if name is None else self.base.with_name(f"{self.base.name}-{name}")

    def save(self, copy: Path) -> None:
        remove_tree(copy)
        copy_tree(self.case, copy)
        save_apart(self.case, copy)

    def fresh(self, source: Path | None = None) -> None:
        """The case directory as the setup (or `source`) left it, and empty output files."""
        remove_tree(self.case)
        copy_tree(source or self.template, self.case)
        restore_apart(self.case, source or self.template)
        adopt(self.case)
        self.stdout.write_bytes(b"")
        self.stderr.write_bytes(b"")

    def promises(self) -> list[str]:
        """The whole lines that were printed; a line without its end was not promised."""
        lines = self.stdout.read_bytes().decode("utf-8", "replace").split("\n")
        return lines[:-1]

    def complaints(self) -> str:
        return self.stderr.read_bytes().decode("utf-8", "replace")

    def said(self) -> str:
        """The end of both outputs, for whoever wants to know why a command failed."""
        printed = self.stdout.read_bytes().decode("utf-8", "replace")
        return f"stderr: {self.complaints()[-800:]!r}, stdout: {printed[-800:]!r}"

    def verdict(self, check: Check, promises: list[str], *, seconds: int = 60) -> str | None:
        """Checks a case; the reason of a failure, or None.

        What is right once must stay right: with `FULL` each is checked twice. Checks are most of a
        gate's time.
        """
        for turn in ("check", "second check")[: 1 + FULL]:
            try:
                with time_limit(seconds):
                    check(self.case, list(promises))
            except Exception as error:  # noqa: BLE001 - any exception of a check is its verdict
                return f"{turn}: {_reason(error)}"
        return None

    def undisturbed(self, setup: Setup, victim: Command, check: Check) -> str | None:
        """What is wrong after a run without a fault; told once for all gates of the same run."""
        passed = self.beside(None if FULL else name_for("passed", setup, check, victim))
        if passed is not None and passed.exists():
            return None
        wrong = self.verdict(check, self.promises())
        if wrong is None and passed is not None:
            passed.touch()
        return wrong

    def keep(self, name: str) -> None:
        """Keeps the case directory of a failure when SIDING_FAULTS_KEEP names a place."""
        if KEEP:
            target = Path(KEEP) / f"{running_test().replace('/', '-')}-{name}"
            remove_tree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            copy_tree(self.case, target)


class time_limit:  # noqa: N801 - reads as a with-statement
    """Raises TimeoutError in the main thread of this (worker) process after `seconds`."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        signal.signal(signal.SIGALRM, self._expire)
        signal.alarm(self.seconds)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)

    def _expire(self, _number: int, _frame: FrameType | None) -> NoReturn:
        raise TimeoutError(f"took more than {self.seconds} s")


def sample(items: Sequence[Item], budget: int, seed: int) -> list[Item]:
    """All items, or `budget` of them: one from each of `budget` equal stretches, chosen by seed."""
    if len(items) <= budget or EVERY:
        return list(items)
    chance = random.Random(seed)
    bounds = [len(items) * number // budget for number in range(budget + 1)]
    return [items[chance.randrange(low, high)] for low, high in pairwise(bounds)]


def depth(suite: int, *, prove: int) -> int:
    """A budget that is smaller in the suite, where `run.py prove` takes more cases of the kind."""
    return prove if left_to_prove.ALL or TIMES > 1 else suite


def settle(gate: str, shares: Sequence[Report]) -> Report:
    """Adds up what the workers did; raises GateFailed, or GateBroken when it proves nothing."""
    report = Report(
        cases=sum(share.cases for share in shares),
        calls=max(share.calls for share in shares),
        failures=tuple(failure for share in shares for failure in share.failures),
        missed=sum(share.missed for share in shares),
        by_mode=sum((Counter(share.by_mode) for share in shares), Counter()),
    )
    note({"gate": gate, **report._asdict()})
    counted.add(report.cases, failed=len(report.failures))
    if report.cases == 0:
        raise GateBroken(f"{gate}: no case ran ({report.calls} calls counted)")
    if report.missed * 5 > report.cases:
        raise GateBroken(f"{gate}: {report.missed} of {report.cases} faults were never reached")
    if report.failures:
        raise GateFailed(f"{gate} ({report.cases} cases)", report.failures)
    return report


def note(told: Mapping[str, object]) -> None:
    """Write what a gate of the running test came to, as a line of JSON, where it is asked for."""
    if REPORT:
        with open(REPORT, "a", encoding="utf-8") as file:
            file.write(json.dumps({"test": running_test(), **told}) + "\n")


def running_test() -> str:
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition("::")[2].partition(" ")[0]


def jobs() -> int:
    """Workers per gate; one under pytest-xdist, which already fills the machine."""
    return 1 if "PYTEST_XDIST_WORKER" in os.environ else min(4, len(os.sched_getaffinity(0)))


def in_workers(
    work: Callable[[Arena, int, int], Share], *, workers: int | None = None
) -> list[Share]:
    """Runs `work(arena, number, count)` in forked processes and returns what each returned.

    A worker is single-threaded and owns its signals and children, as the tracer needs. An exception
    in one is raised here.
    """
    count = workers or jobs()
    base = scratch()
    running: dict[int, int] = {}  # pid -> the pipe with its result
    try:
        for number in range(count):
            running.update([_fork(work, base / f"w{number}", number, count)])
        shares: list[Share] = []
        while running:
            pid, fd = running.popitem()
            shares.append(_collect(pid, fd))
        return shares
    finally:
        for pid, fd in running.items():
            os.close(fd)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        for number in range(count):
            remove_apart(base / f"w{number}" / "case")
            remove_tree(base / f"w{number}")


@cache
def scratch() -> Path:
    """The directory of this process's gates, in memory where there is a /dev/shm."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="siding-faults-", dir=place)).resolve()


def _fork(
    work: Callable[[Arena, int, int], Share], base: Path, number: int, count: int
) -> tuple[int, int]:
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of a test runner: unused here
        pid = os.fork()
    if pid:
        os.close(write_end)
        return pid, read_end
    try:
        os.close(read_end)
        signal.alarm(0)
        for handled in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(handled, signal.SIG_DFL)
        _send(write_end, _outcome(work, base, number, count))
    finally:
        os._exit(0)


def _outcome(
    work: Callable[[Arena, int, int], Share], base: Path, number: int, count: int
) -> tuple[Share | None, Exception | None]:
    try:
        return work(Arena(base), number, count), None
    except GateBroken as error:
        return None, error
    except Exception:  # noqa: BLE001 - crosses the process as text
        return None, GateBroken(f"the harness failed:\n{traceback.format_exc()}")


def _send(fd: int, value: object) -> None:
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(pickle.dumps(value))


def _collect(pid: int, fd: int) -> Share:  # type: ignore[type-var]
    with os.fdopen(fd, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    if not data:
        raise GateBroken("a worker of the harness died")
    share, error = pickle.loads(data)
    if error is not None:
        raise error
    return share  # type: ignore[no-any-return]


def _reason(error: Exception) -> str:
    """An exception in a few lines: its place in the test and what it says."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "/faults/arena" not in frame.filename
    ]
    place = f"{Path(frames[0].filename).name}:{frames[0].lineno}: " if frames else ""
    text = (
        f"{type(error).__name__}: {error}"
        if str(error)
        else f"{type(error).__name__}: {frames[-1].line if frames else ''}"
    )
    return place + text[:1500]
