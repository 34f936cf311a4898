"""A command that runs beside the event loop: of the built-in agent, or of the status line.

It ends with who started it, has no terminal, a session of its own, and the input that it is started
with. Its parent is a shell that does nothing else, so that a command which kills its parent does
not reach us. Both outputs are read all the time, and handed on as they come.

What a command leaves behind (``server &``) is found by its session and by a mark in its
environment, goes on until `Job.close`, and is ended there. The command's process id is not given
back to the system before that, so that no other process can be meant.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import CannotStart
from siding.ground.process.command import MARK_VARIABLE, ProcessStatus

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

TERM_GRACE_S = 5.0
_KILL_WAIT_S = 5.0
_END_OF_OUTPUT_S = 0.3  # how long the end of the output is waited for after that of the command
_LOOK_S = 0.05
_PART = 1 << 16

Output = Callable[[bytes], None]

# `exit` keeps the shell from becoming the command, whose parent it has to be.
_PARENT = ("/bin/sh", "-c", '"$@"; exit $?', "sh")


class Ended(NamedTuple):
    """How a command ended. `code` follows the shell: 128 + N if signal N ended it.

    `left`: the names of processes that it started and that still run.
    """

    code: int
    left: tuple[str, ...] = ()


class Job:
    """A running command. Make it with `start`; call `close` exactly once, whatever happens."""

    def __init__(self, child: "subprocess.Popen[bytes]", token: str) -> None:
        self._child = child
        self._token = token
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._reaped_at: float | None = None  # where it cannot be told of the end without reaping
        self._silent = asyncio.Event()
        self._open: set[int] = set()
        self._watcher = asyncio.create_task(self._watch())

    @classmethod
    def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        stdout: Output,
        stderr: Output,
        stdin: bytes = b"",
    ) -> "Job":
        """Start a command with `env` as its whole environment, and `stdin` to read.

        Raises CannotStart.
        """
        token = os.urandom(8).hex()
        outer = env.get(MARK_VARIABLE)
        # In front: the last one is that of the run, which the other ends belong to as well.
        marked = {**env, MARK_VARIABLE: f"{token}:{outer}" if outer else token}
        try:
            with _readable(stdin) as given:
                child = subprocess.Popen(
                    (*_PARENT, *argv),
                    cwd=cwd,
                    env=marked,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            raise CannotStart(f"the command cannot be started: {error}") from error
        job = cls(child, token)
        job._read(child.stdout, stdout)
        job._read(child.stderr, stderr)
        return job

    @property
    def pid(self) -> int:
        """The process id of the command's parent, which leads its session."""
        return self._child.pid

    @property
    def has_ended(self) -> bool:
        """Tell whether the command has ended."""
        return self._exited.is_set()

    async def wait(self, timeout_s: float | None = None) -> Ended | None:
        """Wait for the command's end and the last of its output; None if that takes too long.

        The output of what it leaves behind is not waited for.
        """
        try:
            async with asyncio.timeout(timeout_s):
                await self._exited.wait()
        except TimeoutError:
            return None
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_OF_OUTPUT_S):
                await self._silent.wait()
        left = await asyncio.to_thread(self._members)
        return Ended(self._code(), tuple(sorted({each.name for each in left})))

    async def close(self, *, grace_s: float = TERM_GRACE_S) -> None:
        """End all that still runs: SIGTERM, `grace_s` seconds, SIGKILL; then reap the command.

        It takes at most five seconds more, and is done also if the caller is cancelled meanwhile.
        """
        closing = asyncio.ensure_future(self._close(grace_s))
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await _surely(closing)
            raise

    async def _close(self, grace_s: float) -> None:
        try:
            if not await self._ended_by(signal.SIGTERM, grace_s):
                await self._ended_by(signal.SIGKILL, _KILL_WAIT_S)
        finally:
            self._watcher.cancel()
            for fd in tuple(self._open):
                self._stop_reading(fd)
            for stream in (self._child.stdout, self._child.stderr):
                if stream is not None:
                    stream.close()
            if self.has_ended:
                self._child.wait()

    async def _ended_by(self, number: int, seconds: float) -> bool:
        """Send a signal to all that is left and wait until nothing is; tell whether that is so."""
        deadline = self._loop.time() + seconds
        signalled: set[int] = set()
        while True:
            left = await asyncio.to_thread(self._members)
            if not left and self.has_ended:
                return True
            for each in left:
                if each.pid not in signalled:
                    processes.send_signal(each, number)
                    signalled.add(each.pid)
            if self._loop.time() >= deadline:
                return False
            await asyncio.sleep(_LOOK_S if signalled else 0)

    def _members(self) -> list[ProcessStatus]:
        """Return all living processes of the command."""
        ours = os.getpid()
        found = [
            each
            for each in processes.all_processes().values()
            if each.pid != ours
            and (each.session == self.pid or processes.has_token(each.pid, self._token))
        ]
        # Our number is nobody else's for as long as somebody of the session lives. (`started` is in
        # seconds of the clock where this is asked.)
        reaped = self._reaped_at
        if reaped is not None and not any(each.started <= reaped for each in found):
            return []
        return found

    def _code(self) -> int:
        if self._reaped_at is not None:
            code = self._child.returncode
            return code if code >= 0 else 128 - code
        found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        assert found is not None
        if found.si_code == os.CLD_EXITED:
            return found.si_status
        return 128 + found.si_status

    async def _watch(self) -> None:
        """Wait until the command has ended, without reaping it where that is possible."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            while self._child.poll() is None:
                await asyncio.sleep(_LOOK_S)
            self._reaped_at = time.time()
            self._exited.set()
            return
        ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
        pause = 0.002
        with _told_of_end(self.pid, self._loop) as told:
            while os.waitid(os.P_PID, self.pid, ended) is None:
                if told is None:
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LOOK_S)
                else:
                    await told.wait()
        self._exited.set()

    def _read(self, stream: object, sink: Output) -> None:
        fd = stream.fileno()  # type: ignore[attr-defined]  # a pipe that Popen has made
        os.set_blocking(fd, False)
        self._open.add(fd)
        self._loop.add_reader(fd, self._on_output, fd, sink)

    def _on_output(self, fd: int, sink: Output) -> None:
        try:
            data = os.read(fd, _PART)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            sink(data)
        else:
            self._stop_reading(fd)

    def _stop_reading(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        self._open.discard(fd)
        if not self._open:
            self._silent.set()


@contextmanager
def _readable(data: bytes) -> Iterator[int | IO[bytes]]:
    """Give what a command can read these bytes from. A file: nobody has to feed it meanwhile."""
    if not data:
        yield subprocess.DEVNULL
        return
    import tempfile  # the own agent's commands read nothing

    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


class _told_of_end:  # noqa: N801 - used as a function
    """Gives an event that is set when a process ends; None where the system has no such thing."""

    def __init__(self, pid: int, loop: asyncio.AbstractEventLoop) -> None:
        self._pid, self._loop, self._fd = pid, loop, -1

    def __enter__(self) -> asyncio.Event | None:
        if not hasattr(os, "pidfd_open"):
            return None
        try:
            self._fd = os.pidfd_open(self._pid)
        except OSError:
            return None
        told = asyncio.Event()
        self._loop.add_reader(self._fd, told.set)
        return told

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)


async def _surely(work: "asyncio.Future[None]") -> None:
    """Wait for work that is bounded, however often we are cancelled meanwhile."""
    while not work.done():
        with suppress(asyncio.CancelledError):
            await asyncio.shield(work)
    work.exception() if not work.cancelled() else None
