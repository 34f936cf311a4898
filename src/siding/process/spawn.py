"""Starting the user's command: through pipes, or in a terminal of its own.

Either way it leads a session of its own, so it and what it starts can be told from our helpers
and be signalled as a whole, and no Ctrl-C of ours reaches it by accident.

A fork of our own: only the child itself can take a terminal, or change its directory, and the
import of `subprocess` takes longer than most of what Siding does around a command.
"""

import errno
import fcntl
import os
import signal
import sys
import termios
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, Protocol

from siding.process.command import Command, WindowSize
from siding.process.lookup import Program, is_plain_script
from siding.process.spawn_plan import SpawnPlan
from siding.process.terminal import set_window_size

_MOST_DESCRIPTORS = 4096  # what a shell left open for us is below; ours close themselves on exec
_LAST_STANDARD = 2
PIPE_BYTES = 1 << 20  # the most an ordinary user may ask for; a command rarely waits for us then


class Child(Protocol):
    """A started command."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None:
        """Reap it if it ended; return its exit status, negative for a signal."""
        ...


class Piped(NamedTuple):
    child: Child
    stdout: int
    stderr: int


class InTerminal(NamedTuple):
    """``master`` is our end of the command's terminal, ``slave`` the command's."""

    child: Child
    master: int
    slave: int


def spawn_piped(
    command: Command, program: Program, *, stdin: int | None, plan: SpawnPlan | None = None
) -> Piped:
    """Start the command with pipes; ``stdin`` None is /dev/null. Raises OSError as exec does."""
    stdout, child_stdout = _large_pipe()
    stderr, child_stderr = _large_pipe()
    try:
        child = _fork_exec(
            command, program, lambda: _take_pipes(stdin, child_stdout, child_stderr), plan
        )
    except BaseException:
        os.close(stdout)
        os.close(stderr)
        raise
    finally:
        os.close(child_stdout)
        os.close(child_stderr)
    return Piped(child=child, stdout=stdout, stderr=stderr)


def spawn_in_terminal(
    command: Command,
    program: Program,
    *,
    size: WindowSize,
    like: list[Any] | None,
    plan: SpawnPlan | None = None,
) -> InTerminal:
    """Start the command in a new terminal of this size; ``like`` are settings to begin with.

    Raises OSError as exec does.
    """
    master, slave = os.openpty()
    try:
        set_window_size(slave, size)
        if like is not None:
            termios.tcsetattr(slave, termios.TCSANOW, like)

        def connect() -> None:
            if plan is not None and plan.takes_terminal:
                _take_pipes(slave, slave, slave)
            else:
                os.login_tty(slave)

        child = _fork_exec(command, program, connect, plan)
        os.set_blocking(master, False)
    except BaseException:
        os.close(master)
        os.close(slave)
        raise
    return InTerminal(child=child, master=master, slave=slave)


class _Forked:
    """A child of our own fork."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def poll(self) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status


def _fork_exec(
    command: Command, program: Program, connect: Callable[[], None], plan: SpawnPlan | None
) -> _Forked:
    """Start the command; `connect` gives the child its session and standard descriptors."""
    environment = {os.fsencode(k): os.fsencode(v) for k, v in command.env.items()}
    reading, writing = os.pipe()
    if writing <= _LAST_STANDARD:  # a standard descriptor is closed here: keep out of their way
        low, writing = writing, fcntl.fcntl(writing, fcntl.F_DUPFD_CLOEXEC, _LAST_STANDARD + 1)
        os.close(low)
    pid = os.fork()
    if pid == 0:
        _become(command, program, connect, environment, writing, plan)
    os.close(writing)
    with open(reading, "rb") as failed:
        number = failed.read()
    if number:
        os.waitpid(pid, 0)
        raise OSError(int(number), os.strerror(int(number)))
    return _Forked(pid)


def _become(
    command: Command,
    program: Program,
    connect: Callable[[], None],
    environment: dict[bytes, bytes],
    failed: int,
    plan: SpawnPlan | None,
) -> NoReturn:
    """In the child: connect, and exec. Reports an errno on ``failed``."""
    try:
        _restore_signals()
        connect()
        os.chdir(command.cwd)
        if plan is not None and plan.enter is not None:
            plan.enter()
        _close_all_but(failed, () if plan is None else plan.keep)
        try:
            os.execve(program.path, command.argv, environment)
        except OSError as error:
            if error.errno != errno.ENOEXEC or not is_plain_script(program.path):
                raise
            os.execve("/bin/sh", ("sh", program.path, *command.argv[1:]), environment)
    except OSError as error:
        os.write(failed, str(error.errno).encode())
    finally:
        os._exit(127)


def _close_all_but(failed: int, keep: tuple[int, ...]) -> None:
    """In the child: close every descriptor but the standard ones and these; `keep` outlive exec."""
    for fd in keep:
        os.set_inheritable(fd, True)
    below = _LAST_STANDARD
    for fd in sorted((failed, *keep)):
        os.closerange(below + 1, fd)
        below = fd
    os.closerange(below + 1, _MOST_DESCRIPTORS)


def _take_pipes(stdin: int | None, stdout: int, stderr: int) -> None:
    """In the child: lead a session, with these as the standard descriptors."""
    os.setsid()
    given = [os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, stdout, stderr]
    # First out of the way of each other: one of them may be where another has to go.
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, _LAST_STANDARD + 1) for fd in given]
    for number, fd in enumerate(moved):
        os.dup2(fd, number)


def _restore_signals() -> None:
    """Undo what Python ignores at its start, as `subprocess` does; let go of our inbox."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def _large_pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    if sys.platform == "linux":
        try:
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            pass  # this user's pipes are large enough already; an ordinary one works as well
    return reading, writing
