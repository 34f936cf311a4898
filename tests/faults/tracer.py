"""A ptrace tracer over a whole process tree (Linux, ctypes, standard library only).

It stops every process of the tree at each interesting system call below given directories, in one
global order, and asks a callback what to do: let it run, fail it, cut a write short, or kill
everything. A seccomp filter picks the calls, so that the rest of the program runs at full speed.

Rules: processes are seized (PTRACE_SEIZE), never attached, so that SIGSTOP and job control keep
their meaning; children of any kind (fork, vfork, clone, setsid) are followed; the kernel kills them
all when the tracer dies. Not seen: stores through a shared mmap. io_uring is refused (ENOSYS).
"""

import ctypes
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from functools import cache
from typing import NamedTuple, Protocol

from .ptrace import (
    AUDIT_ARCH,
    CONT,
    LISTEN,
    MACHINE,
    O_CHANGES,
    SYSCALL,
    WALL,
    event_message,
    result_at_exit,
    resume,
    set_argument,
    skip,
    spawn_seized,
    syscall_at_entry,
)
from .syscalls import Effect, Syscall, by_number

_BIRTHS, _EVENT_SECCOMP, _EVENT_STOP = (1, 2, 3), 7, 128  # fork, vfork, clone; ptrace(2)
_JOB_CONTROL = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
_AT_FDCWD = -100


@cache
def unsupported_reason() -> str | None:
    """Why faults cannot be injected on this machine, or None."""
    if sys.platform != "linux" or MACHINE not in AUDIT_ARCH:
        return f"fault injection needs Linux on x86_64 or aarch64, not {sys.platform} {MACHINE}"
    try:
        probe = Tracer([], lambda _call: RUN)
        ending = probe.run(["true"], cwd="/", env=os.environ, stdout=1, stderr=2, timeout_s=10)
    except OSError as error:
        return f"ptrace is not allowed here: {error}"
    return None if ending.status == 0 else "seccomp filters are not allowed here"


class Verb(Enum):
    RUN = "run"
    RUN_AND_REPORT = "run and call on_return"
    FAIL = "fail with the errno `value`"
    CUT = "store only `value` bytes, then call on_return"
    KILL = "kill the whole tree; the call does not run"


class Action(NamedTuple):
    verb: Verb
    value: int = 0


RUN = Action(verb=Verb.RUN)
RUN_AND_REPORT = Action(verb=Verb.RUN_AND_REPORT)
KILL = Action(verb=Verb.KILL)


class Call:
    """One system call at its entry; `result` is set when it returned."""

    def __init__(self, pid: int, row: Syscall, args: Sequence[int]) -> None:
        self.pid, self.row, self.args = pid, row, args
        self.name, self.effect = row.name, row.effect
        self.result = 0
        self.fd = None if row.fd is None else ctypes.c_int(args[row.fd]).value
        self.paths = [self._absolute(item.directory, item.pointer) for item in row.paths]
        if self.fd is not None:
            self.paths.append(self.fd_path(self.fd))

    @property
    def flags(self) -> int:
        """The open(2) flags of an OPEN call, else 0."""
        if self.name == "creat":
            return os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        if self.name == "openat2":
            return int(struct.unpack("Q", self.memory(self.args[2], 8))[0])
        return 0 if self.row.flags is None else int(self.args[self.row.flags])

    @property
    def length(self) -> int:
        """How many bytes (for vectors: buffers) a WRITE asks to store, else 0."""
        return 0 if self.row.length is None else int(self.args[self.row.length])

    @property
    def changes(self) -> bool:
        """False for what only reads."""
        if self.effect is Effect.OPEN:
            return bool(self.flags & O_CHANGES)
        return self.effect is not Effect.READ

    @property
    def needs_space(self) -> bool:
        """Whether a full disk refuses it."""
        if self.effect is Effect.OPEN:
            return bool(self.flags & os.O_CREAT) and not os.path.lexists(self.paths[0])
        return self.effect in (Effect.WRITE, Effect.SIZE, Effect.NAME)

    def below(self, roots: Sequence[str]) -> bool:
        return any(
            path == root or path.startswith(f"{root}/") for path in self.paths for root in roots
        )

    def describe(self, root: str = "") -> str:
        """The call and its paths, relative to `root`, for people."""
        names = [path.removeprefix(f"{root}/") for path in self.paths]
        size = f", {self.length}" if self.effect is Effect.WRITE else ""
        return f"{self.name}({', '.join(ascii(name)[1:-1] for name in names)}{size})"

    def memory(self, address: int, size: int) -> bytes:
        fd = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY)
        try:
            return os.pread(fd, size, address)
        finally:
            os.close(fd)

    def fd_path(self, fd: int) -> str:
        try:
            return os.readlink(f"/proc/{self.pid}/fd/{fd}")
        except OSError:
            return ""

    def _absolute(self, directory: int | None, pointer: int) -> str:
        start = _AT_FDCWD if directory is None else ctypes.c_int(self.args[directory]).value
        path = self._string(self.args[pointer]) if self.args[pointer] else ""
        if not path.startswith("/"):
            try:
                cwd = start == _AT_FDCWD
                base = os.readlink(f"/proc/{self.pid}/cwd") if cwd else self.fd_path(start)
            except OSError:
                return ""
            path = f"{base}/{path}" if path else base
        parent, name = os.path.split(path.rstrip("/"))
        if name in ("", ".", ".."):
            return os.path.realpath(path)
        return os.path.join(os.path.realpath(parent), name)

    def _string(self, address: int) -> str:
        found = b""
        while b"\0" not in found and len(found) < 8192:
            part = self.memory(address + len(found), 512 - (address + len(found)) % 512)
            if not part:
                break
            found += part
        return os.fsdecode(found.split(b"\0", 1)[0])


class Spawn(Protocol):
    """Starts a process, seized and filtered as by `spawn_seized`; returns its pid."""

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdout: int,
        stderr: int,
        reads: bool,
    ) -> int: ...


class Ending(NamedTuple):
    """How a traced tree ended. `status`: exit code, or minus the signal, of the first process."""

    status: int
    timed_out: bool


class Tracer:
    """Runs one command under trace; one object, one run. Needs a single-threaded process."""

    def __init__(
        self,
        roots: Sequence[str],
        on_call: Callable[[Call], Action],
        on_return: Callable[[Call], Action] = lambda _call: RUN,
        *,
        reads: bool = False,
    ) -> None:
        self.roots, self.reads = tuple(roots), reads
        self.on_call, self.on_return = on_call, on_return
        self.main_pid = 0
        self.strangers: dict[int, int] = {}  # children of ours that are not traced -> wait status
        self._rows = by_number(MACHINE, reads=reads)
        self._live: set[int] = set()
        self._announced: set[int] = set()  # processes of the tree whose birth was reported
        self._gone_before: set[int] = set()  # those that were seen to end before that
        self._returning: dict[int, tuple[Call, int | None]] = {}
        self._status: int | None = None
        self._killed = False

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdout: int,
        stderr: int,
        timeout_s: float,
        linger_s: float = 1.0,
        spawn: Spawn = spawn_seized,
    ) -> Ending:
        """Runs to the end of the tree. What still runs `linger_s` after the first process ended,
        or after `timeout_s`, is killed. `spawn` starts the first process."""
        old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        timed_out = False
        try:
            self.main_pid = spawn(
                argv, cwd=cwd, env=env, stdout=stdout, stderr=stderr, reads=self.reads
            )
            self._live.add(self.main_pid)
            self._announced.add(self.main_pid)
            deadline = time.monotonic() + timeout_s
            while self._live:
                if not self._serve_one(deadline):
                    timed_out = timed_out or self._status is None
                    self.kill()
                    deadline = time.monotonic() + 5
                elif self._status is not None:
                    deadline = min(deadline, time.monotonic() + linger_s)
        finally:
            self.kill()
            signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
        return Ending(status=self._status or 0, timed_out=timed_out)

    def kill(self) -> None:
        """SIGKILL to every process of the tree; those born meanwhile die at their first stop."""
        self._killed = True
        for pid in self._live:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def signal_main(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.main_pid, number)

    def _serve_one(self, deadline: float) -> bool:
        """Waits for one event of the tree and answers it; False when `deadline` passed."""
        while True:
            try:
                pid, status = os.waitpid(-1, WALL | os.WNOHANG)
            except ChildProcessError:
                self._live.clear()
                return True
            if pid:
                break
            left = deadline - time.monotonic()
            if left <= 0 or signal.sigtimedwait({signal.SIGCHLD}, left) is None:
                return False
        if os.WIFSTOPPED(status):
            self._stopped(pid, status)
        elif pid in self._live:
            self._live.discard(pid)
            if pid in self._announced:
                self._announced.discard(pid)
            else:
                self._gone_before.add(pid)
            if pid == self.main_pid:
                self._status = os.waitstatus_to_exitcode(status)
        else:
            self.strangers[pid] = status
        return True

    def _stopped(self, pid: int, status: int) -> None:
        self._live.add(pid)
        number, event = os.WSTOPSIG(status), status >> 16
        try:
            if self._killed:
                os.kill(pid, signal.SIGKILL)
            elif event in _BIRTHS:
                self._born(event_message(pid))
                resume(pid, CONT)
            elif event == _EVENT_SECCOMP:
                self._enter(pid)
            elif event == _EVENT_STOP:
                resume(pid, LISTEN if number in _JOB_CONTROL else CONT)
            elif number == signal.SIGTRAP | 0x80:
                self._leave(pid)
            else:
                resume(pid, CONT, number)
        except ProcessLookupError:
            pass  # it died under our hands; its exit is reported by waitpid

    def _born(self, child: int) -> None:
        """A short child may have ended before the report of its birth is read."""
        if child in self._gone_before:
            self._gone_before.discard(child)
        else:
            self._live.add(child)
            self._announced.add(child)

    def _enter(self, pid: int) -> None:
        number, args = syscall_at_entry(pid)
        call = Call(pid, self._rows[number], args)
        action = self.on_call(call) if call.below(self.roots) else RUN
        if action.verb is Verb.KILL:
            self.kill()
        elif action.verb is Verb.FAIL:
            skip(pid, -action.value)
            resume(pid, CONT)
        elif action.verb is Verb.CUT:
            assert call.row.length is not None
            set_argument(pid, call.row.length, action.value)
            self._returning[pid] = (call, call.length)
            resume(pid, SYSCALL)
        elif action.verb is Verb.RUN_AND_REPORT:
            self._returning[pid] = (call, None)
            resume(pid, SYSCALL)
        else:
            resume(pid, CONT)

    def _leave(self, pid: int) -> None:
        call, length = self._returning.pop(pid)
        call.result = result_at_exit(pid)
        if length is not None and call.row.length is not None:
            set_argument(pid, call.row.length, length)  # programs rely on unchanged registers
        if self.on_return(call).verb is Verb.KILL:
            self.kill()
        else:
            resume(pid, CONT)
