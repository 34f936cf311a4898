"""One traced run of a command, disturbed at most at one call."""

import errno
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .apart import apart_of, has_apart
from .arena import Arena, Command, resolve
from .syscalls import Effect
from .tracer import KILL, RUN, Action, Call, Ending, Tracer, Verb
from .victims import run_traced

SIGNALS = {"sigterm": signal.SIGTERM, "sigint": signal.SIGINT, "sighup": signal.SIGHUP}
TIMEOUT_S = 180.0  # thirteen programs in a row took more than one minute on a busy machine
# A rival that polls for a lock is not seen waiting: go on when it has slept for so long. Time in
# which it waits for a processor does not count, so that a busy machine does not end the waiting.
_RIVAL_SLEEPS_S = 0.3


class Point(NamedTuple):
    """One counted call."""

    number: int
    text: str
    effect: Effect
    length: int
    needs_space: bool
    by_child: bool  # a process that the first one started makes it


class Fault(NamedTuple):
    mode: str
    call: int  # which of the calls that it may strike, from 1

    def __str__(self) -> str:
        return f"{self.mode}@{self.call}"


def _apart(case: Path) -> list[str]:
    return [str(apart_of(case))] if has_apart(case) else []


class Trial:
    """Counts the calls of one run (`points`), strikes at the one its fault names (`hit`)."""

    def __init__(
        self,
        arena: Arena,
        within: Sequence[str],
        *,
        reads: bool = False,
        may_strike: Callable[[Point], bool] = lambda _point: True,
    ) -> None:
        self.arena, self.reads = arena, reads
        self._may_strike, self._passed = may_strike, 0
        self.points: list[Point] = []
        self.hit: Point | None = None
        self.ending = Ending(status=0, timed_out=False)
        self.rival_hung = False
        self._fault: Fault | None = None
        self._full = False
        self._tearing = False
        self._tracer = Tracer(
            [os.path.normpath(arena.case / part) for part in within] + _apart(arena.case),
            self._on_call,
            lambda _call: KILL if self._tearing else RUN,
            reads=reads,
        )
        self._rival: _Rival | None = None

    def run(
        self, command: Command, fault: Fault | None = None, rival: Command | None = None
    ) -> "Trial":
        self._fault = fault
        if rival is not None:
            self._rival = _Rival(self.arena, rival, self._tracer)
        try:
            fresh = fault is not None and fault.mode in SIGNALS
            self.ending = run_traced(
                self._tracer, self.arena, command, timeout_s=TIMEOUT_S, fresh=fresh
            )
        finally:
            if self._rival is not None:
                self.rival_hung = not self._rival.ended()
        return self

    def _on_call(self, call: Call) -> Action:
        if not (call.changes or self.reads):
            return RUN
        point = Point(
            number=len(self.points) + 1,
            text=call.describe(str(self.arena.case)),
            effect=call.effect,
            length=call.length,
            needs_space=call.needs_space,
            by_child=call.pid != self._tracer.main_pid,
        )
        self.points.append(point)
        if self._full:
            return _failing(errno.ENOSPC) if call.needs_space else RUN
        if self._fault is None or self.hit is not None or not self._may_strike(point):
            return RUN
        self._passed += 1
        if self._passed != self._fault.call:
            return RUN
        self.hit = point
        return self._strike(self._fault.mode, point, call.pid)

    def _strike(self, mode: str, point: Point, pid: int) -> Action:
        kind, _, detail = mode.partition(":")
        if mode == "kill":
            return KILL
        if kind == "kill":
            os.kill(pid if detail == "child" else self._tracer.main_pid, signal.SIGKILL)
            return RUN  # of one that is dead by now nothing runs
        if kind == "err":
            return _failing(getattr(errno, detail))
        if kind == "full":
            self._full = True
            return _failing(errno.ENOSPC) if point.needs_space else RUN
        if kind in ("torn", "short"):
            if point.effect is not Effect.WRITE or point.length < 2:
                return RUN  # the calls differ from the undisturbed run
            self._tearing = kind == "torn"
            kept = {"first": 1, "last": point.length - 1}.get(detail, point.length // 2)
            return Action(verb=Verb.CUT, value=kept)
        if kind == "stop":
            assert self._rival is not None
            self._rival.start()
        else:
            self._tracer.signal_main(SIGNALS[kind])
        return RUN


class _Rival:
    """An untraced command that runs while the traced tree stands still."""

    def __init__(self, arena: Arena, command: Command, tracer: Tracer) -> None:
        self.arena, self.command, self.tracer = arena, command, tracer
        self.pid = 0

    def start(self) -> None:
        """Starts it and waits until it ended or stands before a lock of the frozen victim."""
        argv, env, cwd = resolve(self.command, self.arena.case)
        append = os.O_WRONLY | os.O_APPEND
        self.pid = os.posix_spawnp(
            "env",
            ["env", "-C", cwd, *argv],
            env,
            setsid=True,
            setsigmask=[],
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, str(self.arena.stdout), append, 0),
                (os.POSIX_SPAWN_OPEN, 2, str(self.arena.stderr), append, 0),
            ],
        )
        slept, deadline = 0.0, time.monotonic() + TIMEOUT_S
        before = time.monotonic()
        while slept < _RIVAL_SLEEPS_S and before < deadline and not self._gone():
            family = _family(self.pid)
            if _waits_for_lock(family):
                return
            time.sleep(0.002)
            now = time.monotonic()
            slept += now - before if _sleeps(family) else 0
            before = now

    def ended(self) -> bool:
        """Waits for its end; False (and it is killed) when it hangs. True if it never started."""
        deadline = time.monotonic() + TIMEOUT_S
        while self.pid and not self._gone():
            if time.monotonic() > deadline:
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                return False
            time.sleep(0.002)
        return True

    def _gone(self) -> bool:
        if self.pid in self.tracer.strangers:
            return True
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.tracer.strangers[pid] = status
        return bool(pid)


def _family(pid: int) -> list[int]:
    """The process and everything below it."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            children = Path(f"/proc/{each}/task/{each}/children").read_text(encoding="ascii")
            found += map(int, children.split())
    return found


def _waits_for_lock(pids: list[int]) -> bool:
    """Whether the kernel lists one of the processes among those blocked on a file lock."""
    named = {str(pid) for pid in pids}
    with suppress(OSError), open("/proc/locks", encoding="ascii") as locks:
        return any("->" in line and not named.isdisjoint(line.split()) for line in locks)
    return False


def _sleeps(pids: list[int]) -> bool:
    """Whether none of the processes runs, waits for a processor or for a disk."""
    for pid in pids:
        with suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_bytes()
            if stat.rpartition(b")")[2].split()[0] in (b"R", b"D"):
                return False
    return True


def _failing(code: int) -> Action:
    return Action(verb=Verb.FAIL, value=code)
