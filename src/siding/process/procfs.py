"""Linux: what /proc says about processes, adopting orphans, and signalling without mistakes."""

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from siding.process.command import TOKEN_VARIABLE
from siding.process.status import Status

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_ENVIRONMENT_LIMIT = 4 << 20  # the kernel allows an environment of about this size


def read_status(pid: int) -> Status | None:
    """Return a living process's status; None when it is gone or only waits to be reaped."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return None
    name_start, name_end = line.find(b"("), line.rfind(b")")
    fields = line[name_end + 2 :].split()
    # A leader that ended while its threads go on is "Z" too, with threads left.
    if fields[0] in b"ZX" and int(fields[17]) <= 1:
        return None
    return Status(
        pid=pid,
        name=line[name_start + 1 : name_end].decode(errors="replace"),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        started=int(fields[19]),
    )


def all_processes() -> dict[int, Status]:
    """Return every living process by pid. Not one moment: some may have come or gone meanwhile."""
    found = (read_status(int(name)) for name in os.listdir("/proc") if name.isdecimal())
    return {status.pid: status for status in found if status is not None}


def has_token(pid: int, token: str) -> bool:
    """Whether the process was started with this step's token in its environment.

    False for processes whose environment we may not read (another user's).
    """
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            environment = file.read(_ENVIRONMENT_LIMIT)
    except OSError:
        return False
    name = TOKEN_VARIABLE.encode() + b"="
    if name not in environment:
        return False
    for entry in environment.split(b"\0"):
        if entry.startswith(name):
            return token.encode() in entry[len(name) :].split(b":")
    return False


def send_signal(status: Status, number: int) -> bool:
    """Signal exactly this process, never a later one with its pid.

    Returns False when we may not signal it; True when it was signalled or is gone.
    """
    try:
        handle = os.pidfd_open(status.pid)
    except ProcessLookupError:
        return True
    except OSError:  # no pidfds here (kernel before 5.3, a sandbox): the check alone must do
        handle = None
    try:
        current = read_status(status.pid)
        if current is None or current.started != status.started:
            return True
        if handle is None:
            os.kill(status.pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """While inside, descendants whose parent ends become our children instead of init's.

    That keeps daemons findable whatever they do to their session and environment. The setting
    the caller had is put back; orphans adopted meanwhile stay our children until we end.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    before = ctypes.c_int(0)
    if libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0) != 0:
        before = ctypes.c_int(0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # a kernel without it: tokens must do
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, before.value, 0, 0, 0)


def reap_adopted(commands: frozenset[int]) -> None:
    """Reap adopted orphans that ended, and nothing that somebody here waits for.

    Our own helpers live in our session, and everything a command starts lives in another (the
    command is a session leader): that tells them apart even when they are dead.
    ``commands`` are commands under way, which their own run waits for.
    """
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid in commands or _session(ended.si_pid) == os.getsid(0):
            return  # only the first one can be seen; what is behind it is reaped the next time
        try:
            os.waitpid(ended.si_pid, os.WNOHANG)
        except ChildProcessError:
            return


def no_children() -> bool:
    """Whether we have no child at all: then nothing we adopted lives either."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _session(pid: int) -> int:
    with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
        line = file.read(1024)
    return int(line[line.rfind(b")") + 2 :].split()[3])
