"""Stop all processes of runs for a moment, and let them go on.

A process is stopped before its children are looked up, and seen stopped, so that it starts nothing
behind our back; and a shell that is stopped before its job does not notice that the job was. For
the same reason the children go on before their parents. Linux only: elsewhere a tree of processes
cannot be read fast enough, and `is_possible` says so.

Each process is told apart from a later one with its number by its start time. Every one is handed
to `note` before it is stopped: if we are killed meanwhile, `let_them_go_on` finds it.

`Suspended` does the same to all that a run started, when the person pressed Ctrl-Z.
"""

import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Self

from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import ProcessStatus
from siding.ground.process.tree import ProcessTree, ancestors

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
    from siding.ground.process import procfs_details
else:
    from siding.ground.process import ps as processes


LIMIT_S = 3.0
MOST_SIGNALS = 10_000
_KERNEL_S = 0.05  # how long a process that cannot be interrupted is waited for
_GOES_ON_S = 0.05
_LOOK_S = 0.0002
_AGAIN_S = 0.005
_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT)


class CannotPause(SidingError):
    """Not all processes of the runs can be stopped. None is stopped any more."""

    code = "cannot_pause"


class Mark(NamedTuple):
    """A process: its number, and its start time as the system's process table has it."""

    pid: int
    started: int


class Trees(NamedTuple):
    """What is to be stopped: all that is below the processes `above`; the `commands` with all below
    them; and every process with one of the `tokens` in its environment. Those in `spared` go on."""

    spared: tuple[Mark, ...]
    above: tuple[Mark, ...]
    commands: tuple[Mark, ...]
    tokens: tuple[str, ...]


def is_possible() -> bool:
    """Tell whether processes can be paused on this system."""
    return sys.platform == "linux" and os.path.isdir("/proc/self/task")


class Pauser:
    """Stops trees of processes. `stopped` are those that it stopped, parents before children.

    A process that was stopped before is left alone, here and when the others go on.
    """

    def __init__(self, trees: Trees, *, note: Callable[[Mark], None]) -> None:
        self.stopped: list[Mark] = []
        self._trees = trees
        self._note = note
        self._to_spare = {*trees.spared, *trees.above}
        self._known: set[Mark] = set()
        self._done: set[Mark] = set()  # halted, and their children looked up since
        self._signals = 0
        self._give_up_at = 0.0
        self._spared = ancestors() | {os.getpid()}

    def pause(self) -> None:
        """Return when nothing of the trees runs any more.

        Raises CannotPause; then, and after any other exception, everything goes on.
        """
        self._give_up_at = time.monotonic() + LIMIT_S
        self._signals = 0
        self._known.clear()
        self._done.clear()
        try:
            while self._stop_below() or self._stop_strays():
                pass
        except BaseException:
            self.go_on()
            raise

    def go_on(self) -> None:
        """Let everything go on that `pause` stopped."""
        with _undisturbed():
            let_them_go_on(self.stopped)
            self.stopped.clear()

    def _stop_below(self) -> bool:
        """Stop what is below the tops; return whether a new process was found."""
        known_before = len(self._known)
        for mark in self._trees.commands:
            status = _living(mark)
            if status is not None:
                self._stop(status)
        waiting = deque([*self._trees.above, *self._known])
        while waiting:
            mark = waiting.popleft()
            if mark in self._done or _living(mark) is None:
                continue
            for pid in procfs_details.children_of(mark.pid):
                child = processes.read_status(pid)
                if child is not None and self._stop(child):
                    waiting.append(_mark(child))
            if mark not in self._to_spare and _has_halted(mark.pid):
                self._done.add(mark)
        return len(self._known) > known_before

    def _stop_strays(self) -> bool:
        """Stop processes that have a token and are below none of the tops."""
        strays = [
            status
            for status in processes.all_processes().values()
            if _mark(status) not in self._known
            and not self._is_spared(status)
            and any(processes.has_token(status.pid, token) for token in self._trees.tokens)
        ]
        for status in sorted(strays, key=lambda each: (each.started, each.pid)):
            self._stop(status)
        return bool(strays)

    def _is_spared(self, status: ProcessStatus) -> bool:
        return status.pid in self._spared or _mark(status) in self._to_spare

    def _stop(self, status: ProcessStatus) -> bool:
        """Stop a process and see it stopped; return whether that was done now."""
        mark = _mark(status)
        if mark in self._known or self._is_spared(status):
            return False
        self._known.add(mark)
        if procfs_details.is_stopped(status.pid):
            return True
        self._signals += 1
        if self._signals > MOST_SIGNALS:
            raise self._refused(status, f"{MOST_SIGNALS} processes were stopped, and more began")
        self._note(mark)
        self.stopped.append(mark)
        if not processes.send_signal(status, signal.SIGSTOP):
            self.stopped.remove(mark)
            raise self._refused(status, "it belongs to another user")
        self._see_halted(status)
        return True

    def _see_halted(self, status: ProcessStatus) -> None:
        in_kernel_until = time.monotonic() + _KERNEL_S
        while True:
            moving = set(procfs_details.thread_states(status.pid)) - procfs_details.HALTED
            now = time.monotonic()
            if not moving or (moving == {procfs_details.IN_KERNEL} and now > in_kernel_until):
                return
            if now > self._give_up_at:
                raise self._refused(status, f"it did not stop within {LIMIT_S:.0f} s")
            time.sleep(_LOOK_S)

    def _refused(self, status: ProcessStatus, why: str) -> CannotPause:
        return CannotPause(
            f"what runs cannot be paused: process {status.pid} ({status.name}): {why}",
            hint="nothing was changed, and everything goes on; --stop ends the runs instead",
        )


def let_them_go_on(stopped: Sequence[Mark]) -> None:
    """Let processes go on, the last one first; those that are gone are passed over."""
    left = list(reversed(stopped))
    give_up_at = time.monotonic() + _GOES_ON_S
    while left:
        left = [mark for mark in left if _go_on(mark)]
        # A tracer that goes on hands the stop that it saw to its process: that is told once more.
        if left and time.monotonic() < give_up_at:
            time.sleep(_AGAIN_S)
        left = [mark for mark in left if _is_stopped(mark)]
        if time.monotonic() >= give_up_at:
            return


def _go_on(mark: Mark) -> bool:
    """Let a process go on and see that it does; return whether it is still there."""
    status = _living(mark)
    if status is None or not processes.send_signal(status, signal.SIGCONT):
        return False
    give_up_at = time.monotonic() + _GOES_ON_S
    while _is_stopped(mark) and time.monotonic() < give_up_at:
        time.sleep(_LOOK_S)
    return True


@contextmanager
def going_on_if_told_to_end(go_on: Callable[[], None]) -> Iterator[None]:
    """In the block, call `go_on` before a signal ends this process; Ctrl-Z does not stop it.

    Signals with a handler of their own are left to it: it ends the block by an exception.
    """

    def end(number: int, _frame: FrameType | None) -> None:
        go_on()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    changed: list[signal.Signals] = []
    try:
        with suppress(ValueError):  # not the main thread: the next command lets them go on
            for number in _ENDING:
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, end)
                    changed.append(number)
            if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:
                signal.signal(signal.SIGTSTP, signal.SIG_IGN)
                changed.append(signal.SIGTSTP)
        yield
    finally:
        for each in changed:
            signal.signal(each, signal.SIG_DFL)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no signal to us interrupt the block. Nothing is started in it, so nothing inherits that.

    What came meanwhile takes effect after it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _mark(status: ProcessStatus) -> Mark:
    return Mark(status.pid, status.started)


def _living(mark: Mark) -> ProcessStatus | None:
    status = processes.read_status(mark.pid)
    return status if status is not None and status.started == mark.started else None


def _has_halted(pid: int) -> bool:
    return procfs_details.HALTED.issuperset(procfs_details.thread_states(pid))


def _is_stopped(mark: Mark) -> bool:
    return procfs_details.is_stopped(mark.pid) and _living(mark) is not None


class Suspended:
    """Stops a tree of processes for the length of a block, as far as that is possible.

    If we are killed meanwhile, the keeper ends them, stopped or not.
    """

    def __init__(self, tree: ProcessTree) -> None:
        self._pauser = Pauser(_all_of(tree), note=_unnoted)

    def __enter__(self) -> Self:
        with suppress(CannotPause):
            self._pauser.pause()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._pauser.go_on()


def _all_of(tree: ProcessTree) -> Trees:
    command, keeper = tree.tops()
    return Trees(
        spared=(),
        above=() if keeper is None else (Mark(keeper.pid, keeper.started),),
        commands=() if command is None else (Mark(command.pid, command.started),),
        tokens=(tree.token,),
    )


def _unnoted(_mark: Mark) -> None:
    """Keep no record of it."""
