"""Short helper commands whose output we want in memory or in a file.

Rules: the environment is given whole, never inherited; no shell; the command gets a process group
of its own, so that a Ctrl-C meant for us does not stop git halfway through a write, and so that
the whole group can be ended. Ending is SIGTERM first: git removes its lock files on SIGTERM and
leaves them on SIGKILL.

Not for the user's commands: those are run by `siding.process.record`.

`os.posix_spawn` and not `subprocess`, whose import takes as long as a git that has nothing to do.
"""

import fcntl
import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from siding.process.errors import CannotStart, OutputTooLarge, TimedOut
from siding.process.lookup import NotStartable, find_program

DEFAULT_MAX_OUTPUT = 1 << 30
MAX_STDERR = 1 << 20  # more than this of a helper's complaints helps nobody: the rest is dropped
TERM_GRACE_S = 2.0
_READ_SIZE = 1 << 16
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # and nobody else expects them to be
_LAST_STANDARD = 2


class Completed(NamedTuple):
    """A helper command that ran to its end. ``returncode`` is negative for a signal."""

    argv: tuple[str, ...]
    returncode: int
    stdout: bytes
    stderr: bytes


class _Expired(Exception):
    """The time is up."""


class _Child:
    """A process we started and have to reap."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None  # negative for a signal

    def poll(self) -> int | None:
        """Return its status if it ended."""
        if self.status is None:
            self._reap(os.WNOHANG)
        return self.status

    def wait(self, seconds: float | None) -> int:
        """Return its status; raises _Expired when it does not end in time."""
        if seconds is None:
            self._reap(0)
        pause, deadline = 0.0005, time.monotonic() + (seconds or 0)
        while self.poll() is None:
            if time.monotonic() >= deadline:
                raise _Expired
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        assert self.status is not None
        return self.status

    def signal_group(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)  # not reaped yet, so the id is still its own
        except ProcessLookupError:
            pass

    def _reap(self, options: int) -> None:
        if self.status is None:
            pid, status = os.waitpid(self.pid, options)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)


class _Ends(NamedTuple):
    """Our ends of a command's pipes; None where it has none."""

    stdin: int | None
    stdout: int | None
    stderr: int


class Running:
    """A helper command under way. `finish` must be called, once; until then it may stand still
    on a full pipe."""

    def __init__(
        self, child: _Child, ends: _Ends, argv: tuple[str, ...], stdin: bytes, max_output: int
    ) -> None:
        self._child = child
        self._argv = argv
        self._unsent = memoryview(stdin)
        self._max_output = max_output
        self._stdin, self._stdout, self._stderr = ends
        self._open = {end for end in ends if end is not None}
        if self._stdin is not None:
            os.set_blocking(self._stdin, False)
            self._feed()  # what fits into the pipe goes now, so that the command can work meanwhile

    @property
    def pid(self) -> int:
        return self._child.pid

    def finish(self, *, timeout_s: float | None = None) -> Completed:
        """Feed, read and wait; return what the command printed.

        Raises `TimedOut` and `OutputTooLarge` after the command's group has been ended. On any
        other exception (KeyboardInterrupt too) the group is ended as well.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            stdout, stderr = self._pump(deadline)
            returncode = self._child.wait(_left(deadline))
        except _Expired:
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
        if self._child.poll() is None:
            self._child.signal_group(signal.SIGTERM)
            try:
                self._child.wait(TERM_GRACE_S)
            except _Expired:
                self._child.signal_group(signal.SIGKILL)
                self._child.wait(None)
        self._close()

    def _timed_out(self, timeout_s: float | None) -> TimedOut:
        return TimedOut(
            f"{self._argv[0]!r} did not finish within {timeout_s} s and was ended",
            hint="command: " + " ".join(self._argv),
        )

    def _pump(self, deadline: float | None) -> tuple[bytes, bytes]:
        """Move bytes until both outputs are at their end."""
        poller = select.poll()
        limits = {self._stderr: MAX_STDERR}
        if self._stdout is not None:
            limits[self._stdout] = self._max_output
        pieces: dict[int, list[bytes]] = {fd: [] for fd in limits}
        sizes = dict.fromkeys(limits, 0)
        waiting = set(limits)
        for fd in waiting:
            poller.register(fd, select.POLLIN)
        if self._stdin in self._open:
            poller.register(self._stdin, select.POLLOUT)
        while waiting:
            left = _left(deadline)
            ready = poller.poll(None if left is None else left * 1000)
            if not ready and left == 0:
                raise _Expired
            for fd, _event in ready:
                if fd not in limits:
                    if self._feed():
                        poller.unregister(fd)
                elif data := os.read(fd, _READ_SIZE):
                    self._keep(data, pieces[fd], limits[fd], size=sizes[fd])
                    sizes[fd] += len(data)
                else:
                    poller.unregister(fd)
                    waiting.remove(fd)
        stdout = b"" if self._stdout is None else b"".join(pieces[self._stdout])
        return stdout, b"".join(pieces[self._stderr])

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
        """Send what the pipe takes of stdin; return True, and close, when there is no more."""
        assert self._stdin is not None
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            pass  # it stopped reading; its exit status tells whether that was an error
        self._open.remove(self._stdin)
        os.close(self._stdin)
        return True

    def _close(self) -> None:
        while self._open:
            os.close(self._open.pop())


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
    program = find_program(command, env, cwd or Path())
    if isinstance(program, NotStartable):
        reason = program.reason.removeprefix(f"{command[0]!r}: ")
        raise CannotStart(
            f"{command[0]!r} cannot be started: {reason}",
            hint=f"is {command[0]!r} installed and on the PATH?",
        )
    path, words = _in_directory(cwd, program.path, command)
    with _Plumbing() as plumbing:
        ends = _Ends(
            stdin=plumbing.feed(0) if stdin else None,
            stdout=plumbing.drain(1) if stdout is None else None,
            stderr=plumbing.drain(2),
        )
        if not stdin:
            plumbing.nothing(0)
        if stdout is not None:
            plumbing.use(stdout, 1)
        for fd in keep_fds:
            plumbing.use(fd, fd)
        plumbing.close_inherited(keep_fds)
        try:
            pid = os.posix_spawn(
                path,
                words,
                env,
                file_actions=plumbing.actions,
                setpgroup=0,
                setsigdef=_IGNORED_BY_PYTHON,
            )
        except OSError as error:
            raise CannotStart(f"{command[0]!r} cannot be started: {error.strerror}") from error
        plumbing.started = True
    return Running(_Child(pid), ends, command, stdin, max_output)


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


def _in_directory(
    cwd: Path | None, program: str, command: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Return what to execute so that the command runs in `cwd`: the call itself cannot say it."""
    if cwd is None:
        return program, command
    change = 'cd -- "$1" && shift && exec "$@"'
    return "/bin/sh", ("sh", "-c", change, "sh", str(cwd.absolute()), program, *command[1:])


class _Plumbing:
    """The descriptors of one command: our ends of its pipes, and what it does with the others."""

    def __init__(self) -> None:
        self.actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
        self.started = False
        self._ours: list[int] = []
        self._theirs: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._theirs if self.started else self._theirs + self._ours:
            os.close(fd)

    def feed(self, number: int) -> int:
        """Let the command read as `number` what we write to the result."""
        reading, writing = self._pipe()
        self._ours.append(writing)
        self._theirs.append(reading)
        self.use(reading, number)
        return writing

    def drain(self, number: int) -> int:
        """Let us read from the result what the command writes to `number`."""
        reading, writing = self._pipe()
        self._ours.append(reading)
        self._theirs.append(writing)
        self.use(writing, number)
        return reading

    def nothing(self, number: int) -> None:
        """Let the command find an empty file as `number`."""
        self.actions.append((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDONLY, 0))

    def use(self, fd: int, number: int) -> None:
        """Let the command find `fd` as `number`; as itself, it is only left open."""
        self.actions.append((os.POSIX_SPAWN_DUP2, fd, number))

    def close_inherited(self, kept: Sequence[int]) -> None:
        """Close in the command what whoever started us left open for everybody."""
        for name in os.listdir("/dev/fd"):
            fd = int(name)
            if fd > _LAST_STANDARD and fd not in kept and _is_inherited(fd):
                self.actions.append((os.POSIX_SPAWN_CLOSE, fd))

    def _pipe(self) -> tuple[int, int]:
        """Return a pipe above the three standard descriptors, which may be closed here."""
        reading, writing = os.pipe()
        return _above_standard(reading), _above_standard(writing)


def _above_standard(fd: int) -> int:
    if fd > _LAST_STANDARD:
        return fd
    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _LAST_STANDARD + 1)
    os.close(fd)
    return moved


def _is_inherited(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False  # the listing's own descriptor: closed by now
