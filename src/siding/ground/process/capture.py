"""Run short helper commands and return their output, in memory or in a file.

The caller passes the whole environment; nothing is inherited. No shell is used. A command gets its
own process group, so that Ctrl-C does not stop git halfway through a write, and so that the whole
group can be ended. It is ended with SIGTERM first: git removes its lock files on SIGTERM and leaves
them behind on SIGKILL.

The user's commands do not run here but in `siding.ground.process.record`.

This module uses `os.posix_spawn`, because importing `subprocess` takes as long as running a git
command that has nothing to do.
"""

import os
import resource
import select
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Self

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.descriptors import LAST_STANDARD, pipe_above_standard
from siding.ground.process.lookup import NotStartable, find_program

DEFAULT_MAX_OUTPUT = 1 << 30
MAX_STDERR = 1 << 20  # bytes of error messages; the rest is dropped
TERM_GRACE_S = 2.0
_READ_SIZE = 1 << 16
# Python ignores these at start-up, and a child would inherit that. Git expects the default: it ends
# by SIGPIPE when its reader is gone.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


class CannotStart(SidingError):
    """The program could not be started at all."""

    code = "cannot_start"


class TimedOut(SidingError):
    """The helper command ran past its timeout; its process group has been ended."""

    code = "timed_out"


class OutputTooLarge(SidingError):
    """The helper command printed more than `max_output`; its process group has been ended."""

    code = "output_too_large"


class Completed(NamedTuple):
    """The result of a helper command. ``returncode`` is -N when signal N ended it."""

    argv: tuple[str, ...]
    returncode: int
    stdout: bytes
    stderr: bytes


class _Expired(Exception):
    """The deadline of a command has passed."""


class _Child:
    """A process we started and have to reap."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None  # negative for a signal

    def poll(self) -> int | None:
        """Return its exit status; None while it runs."""
        if self.status is None:
            self._reap(os.WNOHANG)
        return self.status

    def wait(self, seconds: float | None) -> int:
        """Wait and return its exit status; raise _Expired after `seconds`. None waits for ever."""
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
    """The descriptors of our ends of a command's pipes; None for a stream without a pipe."""

    stdin: int | None
    stdout: int | None
    stderr: int


class Running:
    """A running helper command.

    Call `finish` exactly once. Until then the command blocks as soon as one of its pipes is full.
    """

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
            self._feed()  # fill the pipe now, so that the command can work until `finish`

    @property
    def pid(self) -> int:
        return self._child.pid

    def has_ended(self) -> bool:
        """Tell whether the command has ended; `finish` then returns at once."""
        return self._child.poll() is not None

    def finish(self, *, timeout_s: float | None = None) -> Completed:
        """Send the input, read the outputs and wait; return what the command printed.

        Raises `TimedOut` and `OutputTooLarge`. The command's process group has been ended when an
        exception leaves this method, be it one of these or another (KeyboardInterrupt, say).
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
        """Send the input and read until both outputs end; return stdout and stderr."""
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
        """Write as much input as the pipe takes. Close it and return True when all is written."""
        assert self._stdin is not None
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._stdin, self._unsent) :]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            pass  # the command stopped reading; its exit status says whether that is an error
        self._open.remove(self._stdin)
        os.close(self._stdin)
        return True

    def _close(self) -> None:
        while self._open:
            os.close(self._open.pop())


class Answering:
    """A running helper command that answers questions until `end` is called.

    Its messages on standard error are dropped: pipe after pipe would have to be read at once.
    """

    def __init__(self, child: _Child, questions: int, answers: int) -> None:
        self._child = child
        self._questions = questions
        self.answers: BinaryIO = os.fdopen(answers, "rb")

    def ask(self, question: bytes) -> None:
        """Send a question. Raises BrokenPipeError if the command has ended.

        The caller reads the whole answer before the next question: else both sides may wait.
        """
        unsent = memoryview(question)
        while unsent:
            unsent = unsent[os.write(self._questions, unsent) :]

    def end(self) -> None:
        """End the command's process group at once; it has nothing to clean up."""
        os.close(self._questions)
        self.answers.close()
        self._child.signal_group(signal.SIGKILL)
        self._child.wait(None)


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
    to ours. ``stdin`` is the input; when it is empty the command reads ``/dev/null``. ``stdout`` is
    a file descriptor that the command writes to directly. ``keep_fds`` stay open in the command: a
    file lock on one of them is held until the command ends, even if we are killed. ``max_output``
    limits stdout in bytes. Raises `CannotStart`.
    """
    command = tuple(argv)
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
        child = _spawn(command, env, cwd, plumbing, keep_fds)
    return Running(child, ends, command, stdin, max_output)


def start_answering(argv: Sequence[str], *, env: Mapping[str, str]) -> Answering:
    """Start a helper command that reads questions from its standard input. Raises `CannotStart`."""
    with _Plumbing() as plumbing:
        questions, answers = plumbing.feed(0), plumbing.drain(1)
        plumbing.nothing(2)
        child = _spawn(tuple(argv), env, None, plumbing, ())
    return Answering(child, questions, answers)


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

    A failing exit status raises nothing; the caller checks it. Raises `CannotStart`, `TimedOut`
    and `OutputTooLarge`; after the last two the command's process group has been ended.
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
    """Run a helper command that writes directly to the descriptor ``stdout``; see `start`."""
    running = start(argv, env=env, cwd=cwd, stdin=stdin, stdout=stdout, keep_fds=keep_fds)
    return running.finish(timeout_s=timeout_s)


def _spawn(
    command: tuple[str, ...],
    env: Mapping[str, str],
    cwd: Path | None,
    plumbing: "_Plumbing",
    keep_fds: Sequence[int],
) -> _Child:
    """Start the command in a process group of its own. Raises `CannotStart`."""
    program = find_program(command, env, cwd or Path())
    if isinstance(program, NotStartable):
        reason = program.reason.removeprefix(f"{command[0]!r}: ")
        raise CannotStart(
            f"{command[0]!r} cannot be started: {reason}",
            hint=f"is {command[0]!r} installed and on the PATH?",
        )
    path, words = _in_directory(cwd, program.path, command)
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
    return _Child(pid)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


def _in_directory(
    cwd: Path | None, program: str, command: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    """Return the program and arguments that run the command in `cwd`.

    `posix_spawn` cannot change the directory, so a shell does it and then execs the command.
    """
    if cwd is None:
        return program, command
    change = 'cd -- "$1" && shift && exec "$@"'
    return "/bin/sh", ("sh", "-c", change, "sh", str(cwd.absolute()), program, *command[1:])


class _Plumbing:
    """Collects the file actions of one spawn, and closes the pipes' ends that are not needed."""

    def __init__(self) -> None:
        self.actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
        self.started = False
        self._ours: list[int] = []
        self._theirs: list[int] = []
        self._hidden: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in self._hidden:
            os.set_inheritable(fd, True)
        for fd in self._theirs if self.started else self._theirs + self._ours:
            os.close(fd)

    def feed(self, number: int) -> int:
        """Make a pipe that the command reads as descriptor `number`; return our writing end."""
        reading, writing = pipe_above_standard()
        self._ours.append(writing)
        self._theirs.append(reading)
        self.use(reading, number)
        return writing

    def drain(self, number: int) -> int:
        """Make a pipe that the command writes as descriptor `number`; return our reading end."""
        reading, writing = pipe_above_standard()
        self._ours.append(reading)
        self._theirs.append(writing)
        self.use(writing, number)
        return reading

    def nothing(self, number: int) -> None:
        """Open /dev/null as the command's descriptor `number`."""
        self.actions.append((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0))

    def use(self, fd: int, number: int) -> None:
        """Give our descriptor `fd` to the command as `number`.

        With both equal, POSIX only clears close-on-exec: the descriptor stays open.
        """
        self.actions.append((os.POSIX_SPAWN_DUP2, fd, number))

    def close_inherited(self, kept: Sequence[int]) -> None:
        """Close in the command the inheritable descriptors that our own parent left open."""
        limit, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for name in os.listdir("/dev/fd"):
            fd = int(name)
            if fd <= LAST_STANDARD or fd in kept or not _is_inherited(fd):
                continue
            if limit != resource.RLIM_INFINITY and fd >= limit:
                # It was opened before the limit was lowered: posix_spawn refuses to close it.
                os.set_inheritable(fd, False)
                self._hidden.append(fd)
            else:
                self.actions.append((os.POSIX_SPAWN_CLOSE, fd))


def _is_inherited(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False  # the listing's own descriptor: closed by now
