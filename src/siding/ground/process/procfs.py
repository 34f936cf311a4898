"""Linux: read processes from /proc, adopt orphans, and signal exactly the process meant."""

import os
import signal
import time
from _thread import allocate_lock  # `threading` is a millisecond more at every start
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.process.command import ProcessStatus, is_marked, step_marks

if TYPE_CHECKING:
    import ctypes

_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_adopting = 0  # how many runs need it now; being a subreaper is a setting of the whole process
_adopted_before = 0
_adopting_lock = allocate_lock()
_ENVIRONMENT_LIMIT = 4 << 20  # the kernel allows an environment of about this size


def read_status(pid: int) -> ProcessStatus | None:
    """Return a living process's status; None when it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return None
    # The name is in parentheses and may hold blanks and parentheses itself.
    name_start, name_end = line.find(b"("), line.rfind(b")")
    fields = line[name_end + 2 :].split()
    # A leader that ended while its threads go on is "Z" too, but num_threads counts them.
    if fields[0] in b"ZX" and int(fields[17]) <= 1:
        return None
    return ProcessStatus(
        pid=pid,
        name=line[name_start + 1 : name_end].decode(errors="replace"),
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        started=int(fields[19]),
    )


def ticks_of(pid: int) -> int:
    """Return the processor time of a process and of its children that ended, in clock ticks."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return 0
    return sum(map(int, line[line.rfind(b")") + 2 :].split()[11:15]))


def all_processes() -> dict[int, ProcessStatus]:
    """Return every living process by pid.

    Reading takes a while: processes may start or end meanwhile, so this is no atomic snapshot.
    """
    found = (read_status(int(name)) for name in os.listdir("/proc") if name.isdecimal())
    return {status.pid: status for status in found if status is not None}


def has_token(pid: int, token: str) -> bool:
    """Return whether the process was started with this step's token in its environment.

    False for a process whose environment we may not read, because it is another user's.
    """
    return is_marked(tokens_of(pid), token)


def tokens_of(pid: int) -> list[str]:
    """Return the tokens that a process was started with, or their marks, the outermost first."""
    try:
        with open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            environment = file.read(_ENVIRONMENT_LIMIT)
    except OSError:
        return []
    if b"SIDING_STEP_" not in environment:
        return []
    found = (entry.decode(errors="replace").partition("=") for entry in environment.split(b"\0"))
    return step_marks({name: value for name, _equals, value in found})


def age_of(status: ProcessStatus) -> float:
    """Return for how many seconds a process has lived."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - status.started / os.sysconf("SC_CLK_TCK")


def directory_of(pid: int) -> Path | None:
    """Return the directory that a process works in; None if it is gone or another user's."""
    try:
        return Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        return None


def worked_in(root: Path, directories: Collection[bytes]) -> set[bytes]:
    """Return those of the directories below `root` that a process works in, as far as can be told.

    Nobody can tell of a process of another user.
    """
    if not directories:
        return set()
    base = os.fsencode(os.path.realpath(root)) + b"/"
    wanted = {base + path: path for path in directories}
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:  # a system without it
        return set()
    there = {os.fsencode(found) for pid in pids if (found := directory_of(pid)) is not None}
    return {path for full, path in wanted.items() if full in there}


def send_signal(status: ProcessStatus, number: int) -> bool:
    """Send a signal to exactly this process, never to a later one with the same pid.

    Returns False when we have no permission, True when it was signalled or is gone.
    """
    try:
        handle = os.pidfd_open(status.pid)
    except ProcessLookupError:
        return True
    except OSError:  # no pidfds (Linux before 5.3, a sandbox): rely on the start time alone
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
    """Inside the `with`, descendants whose parent ends become our children instead of init's.

    So a daemon is found whatever it does to its session and environment. Several of these may
    overlap; the last one to end restores the setting that the first one found. Adopted orphans
    stay our children until we end.
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


def become_subreaper() -> None:
    """Make this process the parent of its orphaned descendants for as long as it lives; the
    setting survives an exec."""
    _set_subreaper(1)


def _set_subreaper(on: int) -> int:
    """Set whether we are a child subreaper, and return what it was before.

    If the kernel refuses, orphans are found by their tokens only.
    """
    import ctypes  # imported here: recovery uses this module at every start and not this function

    libc = _libc()
    before = ctypes.c_int(0)
    if libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0) != 0:
        return 0
    libc.prctl(_PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)
    return before.value


@cache
def _libc() -> "ctypes.CDLL":
    import ctypes

    return ctypes.CDLL(None, use_errno=True)


def reap_adopted(commands: frozenset[int]) -> int:
    """Reap adopted orphans that ended, and return how many.

    It never reaps a process that other code waits for: neither one of ``commands``, the pids of
    running commands, nor one of our helpers. Helpers live in our session. Everything a command
    starts lives in another one, because the command is a session leader. The kernel tells the
    session of a dead child too.
    """
    reaped = 0
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return reaped
            if ended.si_pid in commands or _is_ours(ended.si_pid):
                # WNOWAIT shows only the first dead child, and that one is not for us to wait for.
                return reaped + _reap_behind(commands)
            os.waitpid(ended.si_pid, os.WNOHANG)
        except ChildProcessError:
            return reaped
        reaped += 1


def _reap_behind(commands: frozenset[int]) -> int:
    """Reap adopted orphans that ended behind a dead child which other code waits for."""
    reaped = 0
    for name in _lists_of_children():
        for pid in _listed(name):
            try:
                if pid not in commands and not _is_ours(pid):
                    reaped += os.waitpid(pid, os.WNOHANG)[0] != 0
            except OSError:
                continue  # another thread reaped it
    return reaped


def chase_adopted(commands: frozenset[int], seconds: float) -> None:
    """Kill adopted orphans as fast as they come, for `seconds`.

    A process that forks and ends without pause, each time in a new session, has another pid
    whenever we look. Each new one becomes our child when its parent ends. The pid of a child that
    we have not waited for cannot be reused, so it can be killed without the checks of
    `send_signal`, which take longer than the process lives.
    """
    lists = _lists_of_children()
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
    """Return whether we have no child at all, and so no adopted orphan either."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _lists_of_children() -> list[str]:
    return [f"/proc/self/task/{thread}/children" for thread in os.listdir("/proc/self/task")]


def _listed(name: str) -> list[int]:
    try:
        with open(name, "rb", buffering=0) as file:
            return [int(pid) for pid in file.read(1 << 16).split()]
    except OSError:  # the thread ended, or the kernel has no CONFIG_PROC_CHILDREN
        return []


def _is_ours(child: int) -> bool:
    """Return whether a child, dead or alive, is in our session and so one of our helpers."""
    return os.getsid(child) == os.getsid(0)
