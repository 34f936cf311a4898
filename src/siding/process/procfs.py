"""Linux: what /proc says about processes, adopting orphans, and signalling without mistakes."""

import os
import signal
import time
from _thread import allocate_lock  # `threading` is a millisecond more at every start
from collections.abc import Iterator
from contextlib import contextmanager

from siding.process.command import TOKEN_VARIABLE
from siding.process.status import Status

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_adopting = 0  # runs that need it; it is a setting of the whole process
_adopted_before = 0
_adopting_lock = allocate_lock()
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

    That keeps daemons findable whatever they do to their session and environment. When the last
    of several that overlap is left, the setting found by the first is put back; orphans adopted
    meanwhile stay our children until we end.
    """
    global _adopting, _adopted_before
    with _adopting_lock:
        if _adopting == 0:
            _adopted_before = _set_subreaper(1)
        _adopting += 1
    try:
        yield
    finally:
        with _adopting_lock:
            _adopting -= 1
            if _adopting == 0:
                _set_subreaper(_adopted_before)


def _set_subreaper(on: int) -> int:
    """Set it and return what it was. A kernel that refuses leaves only the tokens."""
    import ctypes  # here, because recovery looks for processes at every start and needs none

    libc = ctypes.CDLL(None, use_errno=True)
    before = ctypes.c_int(0)
    if libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0) != 0:
        return 0
    libc.prctl(_PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)
    return before.value


def reap_adopted(commands: frozenset[int]) -> int:
    """Reap adopted orphans that ended, and nothing that somebody here waits for; return how many.

    Our own helpers live in our session, and everything a command starts lives in another (the
    command is a session leader): that tells them apart even when they are dead.
    ``commands`` are commands under way, which their own run waits for.
    """
    reaped = 0
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or ended.si_pid in commands or _is_ours(ended.si_pid):
                return reaped  # only the first is seen; what is behind it is reaped another time
            os.waitpid(ended.si_pid, os.WNOHANG)
        except ChildProcessError:
            return reaped
        reaped += 1


def chase_adopted(commands: frozenset[int], seconds: float) -> None:
    """Kill adopted orphans as fast as they come, for a moment.

    A process that forks and ends without pause, in a new session each time, is another one
    whenever it is looked at. Each becomes our child the moment its parent ends, and a child we
    have not waited for cannot lose its pid, so it is killed without the usual checks: they take
    longer than it lives.
    """
    lists = [f"/proc/self/task/{thread}/children" for thread in os.listdir("/proc/self/task")]
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name in lists:
            for pid in _listed(name):
                try:
                    if pid not in commands and not _is_ours(pid):
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, os.WNOHANG)
                except OSError:
                    continue  # another user's by now, or another thread reaped it


def no_children() -> bool:
    """Whether we have no child at all: then nothing we adopted lives either."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _listed(name: str) -> list[int]:
    try:
        with open(name, "rb", buffering=0) as file:
            return [int(pid) for pid in file.read(1 << 16).split()]
    except OSError:  # the thread ended, or this kernel does not list children
        return []


def _is_ours(child: int) -> bool:
    """Whether a child, dead or alive, is a helper of ours."""
    return os.getsid(child) == os.getsid(0)
