"""Start the user's command, through pipes; `spawn_terminal.py` gives it a terminal of its own.

Either way the command is in another session than we are. So its processes can be told from our
helpers, and a Ctrl-C for us does not reach them by accident. It leads a process group, which can
be signalled as a whole.

This module forks and execs by itself. Only the child can take a terminal or change its directory,
which `posix_spawn` does not offer; and importing `subprocess` takes longer than most of what Siding
does around a command.
"""

import errno
import fcntl
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, SpawnPlan, Survival
from siding.ground.process.descriptors import LAST_STANDARD, close_all_but, pipe_above_standard
from siding.ground.process.keeper.forking import can_keep, fork_kept
from siding.ground.process.lookup import Program, is_plain_script

if TYPE_CHECKING:
    from siding.ground.process.ports import Child

PIPE_BYTES = 1 << 20  # Linux allows a user this much (pipe-max-size); the default is 64 kB


class Piped(NamedTuple):
    child: "Child"
    stdout: int
    stderr: int


def spawn_piped(
    command: Command,
    program: Program,
    *,
    stdin: int | None,
    plan: SpawnPlan | None = None,
    survival: Survival | None = None,
) -> Piped:
    """Start the command with pipes for its outputs; with ``stdin`` None it reads /dev/null.

    Raises OSError with the errno that exec gave.
    """
    stdout, child_stdout = _large_pipe()
    stderr, child_stderr = _large_pipe()
    try:
        child = fork_exec(
            command,
            program,
            lambda: take_pipes(stdin, child_stdout, child_stderr),
            plan,
            survives=surviving(survival, (stdout, stderr)),
        )
    except BaseException:
        os.close(stdout)
        os.close(stderr)
        raise
    finally:
        os.close(child_stdout)
        os.close(child_stderr)
    return Piped(child=child, stdout=stdout, stderr=stderr)


def fork_exec(
    command: Command,
    program: Program,
    connect: Callable[[], None],
    plan: SpawnPlan | None,
    *,
    keep: int = -1,
    survives: tuple[int, ...] = (),
) -> "Child":
    """Fork, and exec the command in the child; raise the child's OSError here.

    `connect` runs in the child and gives it its group and its standard descriptors. The child
    reports an errno through a pipe that a successful exec closes. Where the system can do it, the
    child's parent is a keeper, the leader of the session of the terminal `keep`.
    """
    environment = {os.fsencode(k): os.fsencode(v) for k, v in command.env.items()}
    reading, writing = pipe_above_standard()

    def become() -> NoReturn:
        _become(command, program, connect, environment, writing, plan)

    with open(reading, "rb") as failed:
        try:
            guarded = plan is not None and plan.is_warden
            child = _forked(
                become, failed=writing, terminal=keep, guarded=guarded, survives=survives
            )
        finally:
            os.close(writing)
        number = failed.read()
    if child is not None and not number:
        return child
    if child is not None:
        _wait_for(child)
    error = int(number or errno.ECHILD)
    raise OSError(error, os.strerror(error))


def _forked(
    become: Callable[[], NoReturn],
    *,
    failed: int,
    terminal: int,
    guarded: bool,
    survives: tuple[int, ...],
) -> "Child | None":
    """Fork the child, and a keeper above it if there can be one; None if that was not possible."""
    if can_keep():
        return fork_kept(
            become, failed=failed, terminal=terminal, guarded=guarded, survives=survives
        )
    from siding.ground.process.ports import Forked

    pid = os.fork()
    if pid == 0:
        become()
    return Forked(pid)


def surviving(survival: Survival | None, outputs: tuple[int, ...]) -> tuple[int, ...]:
    """Return the descriptors that the keeper of a run holds which survives its host."""
    if survival is None:
        return ()
    return (survival.fate, len(outputs), *outputs, *survival.locks)


def _wait_for(child: "Child") -> None:
    """Wait for a child that did not exec."""
    if child.keeper:
        child.leave()
    else:
        os.waitpid(child.pid, 0)


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
        _keep_open((failed,), () if plan is None else plan.keep)
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


def _keep_open(ours: tuple[int, ...], given: tuple[int, ...]) -> None:
    """In the child: close all descriptors but these; exec keeps those that are `given`."""
    for fd in given:
        os.set_inheritable(fd, True)
    close_all_but((*ours, *given))


def take_pipes(stdin: int | None, stdout: int, stderr: int) -> None:
    """In the child: start a session, with these as the standard descriptors."""
    os.setsid()
    take(os.open(os.devnull, os.O_RDONLY) if stdin is None else stdin, stdout, stderr)


def take(*given: int) -> None:
    """In the child: make these the standard descriptors."""
    # Copy all above 2 first: one of them may have the number that another one gets.
    moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, LAST_STANDARD + 1) for fd in given]
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
