"""Run tests that may hang: if they take too long, say where they are, and kill them.

The output goes to a file, not to a pipe: a process that a test left behind and that holds a pipe
would keep whoever reads it waiting for ever. The tests' processes say what they run, and where
they are when they are asked, in files of their own (`tests/stacks.py`).
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NamedTuple, NoReturn

ASK = signal.SIGUSR1  # a process that has a file in the directory of stacks writes them there
STACKS = "SIDING_STACKS"  # names that directory
_POLL_S = 0.2
_ANSWER_S = 3.0  # for which an answer is awaited: writing it takes milliseconds


class Elapsed(NamedTuple):
    """Seconds since the command began, and since it last printed something."""

    running: float
    silent: float


class Ended(NamedTuple):
    """How a command ended: what it printed, why it was killed if it was, and where it was then."""

    status: int
    said: str
    late: str = ""
    stacks: str = ""


def no_longer_than(seconds: float) -> Callable[[Elapsed], str]:
    """Return a limit of the whole time."""

    def late(elapsed: Elapsed) -> str:
        return f"took longer than {seconds:.0f} s" if elapsed.running > seconds else ""

    return late


def never_silent_for(seconds: float) -> Callable[[Elapsed], str]:
    """Return a limit of the time in which nothing is printed, however long it takes in all."""

    def late(elapsed: Elapsed) -> str:
        return f"no test ended for {seconds:.0f} s" if elapsed.silent > seconds else ""

    return late


def supervise(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    late: Callable[[Elapsed], str],
    shown: BinaryIO | None = None,
) -> Ended:
    """Run a command until it ends, or until `late` says why it may not go on.

    It gets a session of its own, without standard input. What it prints goes to `shown` as well,
    as it comes.
    """
    with (
        tempfile.TemporaryDirectory(prefix="siding-stacks-") as stacks,
        tempfile.TemporaryFile(prefix="siding-said-") as said,
        subprocess.Popen(
            command,
            cwd=cwd,
            env={**env, STACKS: stacks},
            stdin=subprocess.DEVNULL,
            stdout=said.fileno(),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
        _killed_in_the_end(process),
    ):
        reason = _wait(process, _Printed(said.fileno(), shown), late)
        where = _stacks(process.pid, Path(stacks)) if reason else ""
        if shown is not None and where:
            shown.write(where.encode())
            shown.flush()
        text = os.pread(said.fileno(), os.fstat(said.fileno()).st_size, 0)
    return Ended(process.returncode, text.decode("utf-8", "replace"), reason, where)


class _Printed:
    """What a command has printed into a file."""

    def __init__(self, fd: int, shown: BinaryIO | None) -> None:
        self._fd = fd
        self._shown = shown
        self._size = 0
        self.grown_at = time.monotonic()

    def look(self) -> None:
        """Take note of what is new, and show it."""
        new = os.pread(self._fd, os.fstat(self._fd).st_size - self._size, self._size)
        if new:
            self._size += len(new)
            self.grown_at = time.monotonic()
        if new and self._shown is not None:
            self._shown.write(new)
            self._shown.flush()


def _wait(
    process: "subprocess.Popen[bytes]", printed: _Printed, late: Callable[[Elapsed], str]
) -> str:
    """Wait for the end of a process; return why it is not waited for any longer, or ""."""
    begun = time.monotonic()
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
        printed.look()
        if process.returncode is not None:
            return ""
        now = time.monotonic()
        reason = late(Elapsed(running=now - begun, silent=now - printed.grown_at))
        if reason:
            return reason


@contextmanager
def _killed_in_the_end(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Let nothing of a process outlive the block, also if we are told to end."""

    def told(number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    usual = {number: signal.signal(number, told) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)
        if process.poll() is None:
            _kill(process.pid)


def _kill(leader: int) -> None:
    """Kill a session's leader, its group and all processes below it."""
    below = _below(leader)
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    for pid in below:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _below(root: int) -> list[int]:
    """Return the processes that a process has started, and those that they have."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found = list(children.get(root, []))
    for pid in found:
        found += children.get(pid, [])
    return found


def _parents() -> Iterator[tuple[int, int]]:
    """Yield each process with its parent."""
    if not Path("/proc/self/stat").exists():
        listed = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        )
        for line in listed.stdout.splitlines():
            pid, parent = line.split()
            yield int(pid), int(parent)
        return
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            # The name, in parentheses, may have blanks and parentheses.
            after_name = each.read_bytes().rpartition(b")")[2]
            yield int(each.parent.name), int(after_name.split()[1])


def _stacks(leader: int, directory: Path) -> str:
    """Ask the tests' processes where they are; return what they say, each under its name."""
    there = [leader, *_below(leader)]
    asked = [path for path in directory.iterdir() if int(path.name) in there]
    before = {path: path.stat().st_size for path in asked}
    for path in asked:
        with suppress(ProcessLookupError):
            os.kill(int(path.name), ASK)
    patience = time.monotonic() + _ANSWER_S
    while time.monotonic() < patience and not _answered(before):
        time.sleep(_POLL_S)
    texts = (path.read_text("utf-8", "replace").rstrip() for path in sorted(asked))
    return "".join(
        f"\n== where process {path.name} was: {text}\n"
        for path, text in zip(sorted(asked), texts, strict=True)
    )


def _answered(before: Mapping[Path, int]) -> bool:
    return all(path.stat().st_size > size for path, size in before.items())
