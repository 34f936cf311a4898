"""Start the user's command, through pipes or in a terminal of its own.

Either way the command leads a session of its own. So its processes can be told from our helpers
and signalled as a whole, and a Ctrl-C for us does not reach them by accident.

This module forks and execs by itself. Only the child can take a terminal or change its directory,
which `posix_spawn` does not offer; and importing `subprocess` takes longer than most of what Siding
does around a command.
"""

import errno
import fcntl
import os
import signal
import sys
import termios
from collections.abc import Callable
from typing import Any, NoReturn, Protocol

from siding.namedtuples import NamedTuple
from siding.process.command import Command, WindowSize
from siding.process.lookup import Program, is_plain_script
from siding.process.spawn_plan import SpawnPlan
from siding.process.terminal import set_window_size

# The child closes the descriptors below this one, which a shell may have left open for us. Ours are
# close-on-exec (PEP 446), so that a higher limit would only cost time.
_MOST_DESCRIPTORS = 4096
_LAST_STANDARD = 2
PIPE_BYTES = 1 << 20  # Linux allows a user this much (pipe-max-size); the default is 64 kB


class Child(Protocol):
    """A started command."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None:
        """Reap the command if it ended. Return its exit status, -N for signal N; else None."""
        ...


class Piped(NamedTuple):
    child: Child
    stdout: int
    stderr: int


class InTerminal(NamedTuple):
    """A command in a terminal: ``master`` is our end of it, ``slave`` the command's."""

    child: Child
    master: int
    slave: int


def spawn_piped(
    command: Command, program: Program, *, stdin: int | None, plan: SpawnPlan | None = None
) -> Piped:
    """Start the command with pipes for its outputs; with ``stdin`` None it reads /dev/null.

    Raises OSError with the errno that exec gave.
    """
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
    """Start the command in a new terminal of this size.

    ``like`` are its first settings, from `terminal.attributes`. Raises OSError with the errno that
    exec gave.
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
    """A child that this module forked."""

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
    """Fork, and exec the command in the child; raise the child's OSError here.

    `connect` runs in the child and gives it a session and its standard descriptors. The child
    reports an errno through a pipe that a successful exec closes.
    """
    environment = {os.fsencode(k): os.fsencode(v) for k, v in command.env.items()}
    reading, writing = os.pipe()
    if writing <= _LAST_STANDARD:  # one of ours is closed; the child will put its own stream there
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
    """In the child: connect and exec; write the errno to ``failed`` if that does not succeed."""
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
    """In the child: close all descriptors but 0 to 2, `failed` and `keep`; exec keeps `keep`."""
    for fd in keep:
        os.set_inheritable(fd, True)
    below = _LAST_STANDARD
    for fd in sorted((failed, *keep)):
        os.closerange(below + 1, fd)
        below = fd
    os.closerange(below + 1, _MOST_DESCRIPTORS)


def _take_pipes(stdin: int | None, stdout: int, stderr: int) -> None:
    """In the child: start a session, with these as the standard descriptors."""
    os.setsid()
    given = [os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, stdout, stderr]
    # Copy all above 2 first: one of them may have the number that another one gets.
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, _LAST_STANDARD + 1) for fd in given]
    for number, fd in enumerate(moved):
        os.dup2(fd, number)


def _restore_signals() -> None:
    """In the child: restore the signals that Python ignores, and drop our wakeup descriptor."""
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
            pass  # EPERM: the user's pipes use all the memory they may; 64 kB work as well
    return reading, writing
