"""Short helper commands whose output we want in memory or in a file.

Rules: the environment is given whole, never inherited; no shell; the command gets a process group
of its own, so that a Ctrl-C meant for us does not stop git halfway through a write, and so that
the whole group can be ended. Ending is SIGTERM first: git removes its lock files on SIGTERM and
leaves them on SIGKILL.

Not for the user's commands: those are run by `siding.process.record`.
"""

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from siding.process.errors import CannotStart, OutputTooLarge, TimedOut

DEFAULT_MAX_OUTPUT = 1 << 30
MAX_STDERR = 1 << 20  # more than this of a helper's complaints helps nobody: the rest is dropped
TERM_GRACE_S = 2.0
_READ_SIZE = 1 << 16


class Completed(NamedTuple):
    """A helper command that ran to its end. ``returncode`` is negative for a signal."""

    argv: tuple[str, ...]
    returncode: int
    stdout: bytes
    stderr: bytes


class Running:
    """A helper command under way. `finish` must be called, once; until then it may stand still
    on a full pipe."""

    def __init__(
        self, popen: subprocess.Popen[bytes], argv: tuple[str, ...], stdin: bytes, max_output: int
    ) -> None:
        self._popen = popen
        self._argv = argv
        self._unsent = memoryview(stdin)
        self._max_output = max_output
        if popen.stdin is not None:
            os.set_blocking(popen.stdin.fileno(), False)
            self._feed()  # what fits into the pipe goes now, so that the command can work meanwhile

    @property
    def pid(self) -> int:
        return self._popen.pid

    def finish(self, *, timeout_s: float | None = None) -> Completed:
        """Feed, read and wait; return what the command printed.

        Raises `TimedOut` and `OutputTooLarge` after the command's group has been ended. On any
        other exception (KeyboardInterrupt too) the group is ended as well.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            stdout, stderr = self._pump(deadline)
            returncode = self._popen.wait(_left(deadline))
        except subprocess.TimeoutExpired:
            self.end()
            raise self._timed_out(timeout_s) from None
        except BaseException:
            self.end()
            raise
        finally:
            self._close()
        return Completed(argv=self._argv, returncode=returncode, stdout=stdout, stderr=stderr)

    def end(self) -> None:
        """End the command's process group: SIGTERM, two seconds, SIGKILL. Safe to call twice."""
        if self._popen.poll() is None:
            self._signal_group(signal.SIGTERM)
            try:
                self._popen.wait(TERM_GRACE_S)
            except subprocess.TimeoutExpired:
                self._signal_group(signal.SIGKILL)
                self._popen.wait()
        self._close()

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._popen.pid, number)  # not reaped yet, so the id is still its own
        except ProcessLookupError:
            pass

    def _timed_out(self, timeout_s: float | None) -> TimedOut:
        return TimedOut(
            f"{self._argv[0]!r} did not finish within {timeout_s} s and was ended",
            hint="command: " + " ".join(self._argv),
        )

    def _pump(self, deadline: float | None) -> tuple[bytes, bytes]:
        """Move bytes until both outputs are at their end."""
        sinks: dict[int, tuple[list[bytes], int]] = {}
        poller = select.poll()
        for stream, limit in (
            (self._popen.stdout, self._max_output),
            (self._popen.stderr, MAX_STDERR),
        ):
            if stream is not None:
                sinks[stream.fileno()] = ([], limit)
                poller.register(stream, select.POLLIN)
        if self._popen.stdin is not None and not self._popen.stdin.closed:
            poller.register(self._popen.stdin, select.POLLOUT)
        pieces = [sink for sink, _limit in sinks.values()]
        sizes = dict.fromkeys(sinks, 0)
        while sinks:
            left = _left(deadline)
            ready = poller.poll(None if left is None else left * 1000)
            if not ready and left == 0:
                raise subprocess.TimeoutExpired(self._argv, 0)
            for fd, _event in ready:
                if fd not in sinks:
                    if self._feed():
                        poller.unregister(fd)
                    continue
                data = os.read(fd, _READ_SIZE)
                if not data:
                    poller.unregister(fd)
                    del sinks[fd]
                    continue
                self._keep(data, *sinks[fd], size=sizes[fd])
                sizes[fd] += len(data)
        stdout = b"".join(pieces.pop(0)) if self._popen.stdout is not None else b""
        return stdout, b"".join(pieces.pop(0)) if pieces else b""

    def _keep(self, data: bytes, sink: list[bytes], limit: int, *, size: int) -> None:
        if size + len(data) <= limit:
            sink.append(data)
        elif limit == MAX_STDERR:
            sink.append(data[: max(0, limit - size)])
        else:
            raise OutputTooLarge(
                f"{self._argv[0]!r} printed more than {limit} bytes",
                hint="command: " + " ".join(self._argv),
            )

    def _feed(self) -> bool:
        """Send what the pipe takes of stdin; return True when there is no more to send."""
        assert self._popen.stdin is not None
        fd = self._popen.stdin.fileno()
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(fd, self._unsent) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            pass  # it stopped reading; its exit status tells whether that was an error
        self._popen.stdin.close()
        return True

    def _close(self) -> None:
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: bytes = b"",
    stdout: int | None = None,
    keep_fds: Sequence[int] = (),
    max_output: int = DEFAULT_MAX_OUTPUT,
) -> Running:
    """Start a helper command and return at once, so that several can run at the same time.

    ``env`` is the whole environment; the program is looked up in its ``PATH``. ``cwd`` defaults
    to ours. ``stdin`` is what the command reads; when empty it reads ``/dev/null``. ``stdout`` is
    a file descriptor the kernel writes to directly, instead of memory. ``keep_fds`` stay open in
    the command: a lock held on one of them is held until the command ends, even when we are
    killed. Raises `CannotStart`.
    """
    command = tuple(argv)
    try:
        popen = subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE if stdout is None else stdout,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=keep_fds,
            process_group=0,
        )
    except OSError as error:
        raise _cannot_start(command, cwd, error) from error
    return Running(popen, command, stdin, max_output)


def run_captured(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout_s: float | None = None,
    keep_fds: Sequence[int] = (),
    max_output: int = DEFAULT_MAX_OUTPUT,
) -> Completed:
    """Run a helper command to its end and return what it printed; see `start`.

    The exit status is the caller's business. Raises `CannotStart`, `TimedOut`, `OutputTooLarge`;
    in the last two cases the command's process group is gone when the exception arrives.
    """
    running = start(argv, env=env, cwd=cwd, stdin=stdin, keep_fds=keep_fds, max_output=max_output)
    return running.finish(timeout_s=timeout_s)


def run_to_fd(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdout: int,
    cwd: Path | None = None,
    stdin: bytes = b"",
    timeout_s: float | None = None,
    keep_fds: Sequence[int] = (),
) -> Completed:
    """Run a helper command whose output the kernel writes straight to ``stdout``; see `start`."""
    running = start(argv, env=env, cwd=cwd, stdin=stdin, stdout=stdout, keep_fds=keep_fds)
    return running.finish(timeout_s=timeout_s)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def _cannot_start(argv: tuple[str, ...], cwd: Path | None, error: OSError) -> CannotStart:
    if cwd is not None and not cwd.is_dir():
        return CannotStart(f"{argv[0]!r} cannot be started in {str(cwd)!r}: not a directory")
    return CannotStart(
        f"{argv[0]!r} cannot be started: {error.strerror}",
        hint=f"is {argv[0]!r} installed and on the PATH?",
    )
