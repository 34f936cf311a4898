"""Suspend a run with Ctrl-Z and go on with it (`fg`, `bg`), as a shell does with any job.

In a terminal of its own the command is stopped by that terminal, or stops itself, as editors do.
Its keeper tells, and we give the person's terminal back and stop with it. In a sandbox neither is
so, and we look (`unheard`). Without a terminal of its own the command is in another
session, where Ctrl-Z does not reach it: we stop everything that it started, then ourselves.
"""

import os
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from siding.ground.process.pausing.unheard import CtrlZ
    from siding.ground.process.terminal import RawMode
    from siding.ground.process.tree import ProcessTree

_LEFT_BEHIND_S = 10.0  # a pause takes less than half a second


class Pause(Protocol):
    """A pause of the run's processes by another command."""

    def is_there(self) -> bool: ...

    def end_if_left_behind(self) -> None:
        """Let the processes go on if the command that stopped them was killed."""
        ...


class NoPause:
    """Nobody pauses the run."""

    def is_there(self) -> bool:
        return False

    def end_if_left_behind(self) -> None:
        pass


class Suspending:
    """Suspends one run.

    `raw` is the person's terminal if the command gets its keys. `master` is our end of the
    command's terminal, None without one. `may_stop` is False where nobody could go on with us (in
    a thread). `pause` knows whether another command has stopped the processes of the run for a
    moment, which concerns no terminal.
    """

    def __init__(
        self,
        tree: "ProcessTree",
        *,
        raw: "RawMode | None",
        master: int | None,
        resized: Callable[[], None],
        may_stop: bool,
        pause: Pause,
    ) -> None:
        self._tree = tree
        self._raw = raw
        self._master = master
        self.resized = resized  # gives the command's terminal the size of the person's
        self._may_stop = may_stop
        self._pause = pause
        self._look_at: float | None = None  # when to look whether the pause was left behind
        self._ctrl_z: CtrlZ | None = None
        self._was_asked = False
        self._was_our_stop = False  # that the keeper will tell of
        self.in_background = False  # another job has the person's terminal

    @property
    def due(self) -> float | None:
        """When to `look`, by the clock that never goes back."""
        ctrl_z = None if self._ctrl_z is None else self._ctrl_z.due
        return min(filter(None, (self._look_at, ctrl_z)), default=None)

    def typed(self, keys: bytes) -> None:
        """Take note of what the person types."""
        if self._may_stop and self._raw is not None and self._master is not None:
            self._unheard(self._master).typed(keys)

    def command_stopped(self, number: int) -> None:
        """Suspend us, too, if the command was stopped in its terminal."""
        if number == signal.SIGSTOP and self._pause.is_there():
            self._look_at = time.monotonic() + _LEFT_BEHIND_S
            return
        if self._master is None:
            return  # whoever stopped it goes on with it
        if number == signal.SIGSTOP and self._was_our_stop:
            self._was_our_stop = False
            return
        self._give_back(number)

    def _give_back(self, number: int) -> None:
        """Stop with the command, which was stopped in its terminal by this signal."""
        with_keys = self._raw is not None and not self.in_background
        if self._may_stop and (with_keys or self._was_asked):
            self._was_asked = False
            if self._raw is not None:
                self._raw.off()
            _stop(0)  # with all of the job, such as the other commands of a pipeline
            self.continued()
        elif number != signal.SIGTSTP:
            return
        self._signal_foreground(signal.SIGCONT)  # nobody else could go on with it

    def look(self, now: float) -> None:
        """Let the run go on if whoever paused it was killed; heed a Ctrl-Z that nobody heard."""
        if self._look_at is not None and now >= self._look_at:
            self._pause.end_if_left_behind()
            self._look_at = now + _LEFT_BEHIND_S if self._pause.is_there() else None
        meant = None if self._ctrl_z is None else self._ctrl_z.look(now)
        if meant == "stopped" and not self._pause.is_there():
            self._give_back(signal.SIGSTOP)
        elif meant == "dropped":
            self._was_asked = False
            if self._raw is not None:
                self._raw.off()
            self._was_our_stop = True
            self._stop_all(0)
            self.continued()

    def asked(self) -> None:
        """Suspend the run: we got SIGTSTP."""
        if not self._may_stop:
            return
        if self._master is not None:
            self._was_asked = True
            self._unheard(self._master).signalled()
            self._signal_foreground(signal.SIGTSTP)
            return
        self._stop_all(os.getpid())

    def continued(self) -> None:
        """Take the person's terminal again, if it is ours: we were stopped, or in the
        background."""
        if self._raw is None:
            return
        from siding.ground.process.terminal import is_ours

        self.in_background = not is_ours(self._raw.fd)
        if not self.in_background:
            self._raw.on()
            self.resized()

    def _unheard(self, master: int) -> "CtrlZ":
        if self._ctrl_z is None:
            # Imported here: every run loads this module, and in few does a person type.
            from siding.ground.process.pausing.unheard import CtrlZ

            self._ctrl_z = CtrlZ(master)
        return self._ctrl_z

    def _stop_all(self, target: int) -> None:
        """Stop all that the run started, and ourselves, until a shell goes on with us."""
        # Imported here: every run loads this module, and few are suspended.
        from siding.ground.process.pausing.pauser import Suspended

        with Suspended(self._tree):
            _stop(target)

    def _signal_foreground(self, number: int) -> None:
        assert self._master is not None
        try:
            group = os.tcgetpgrp(self._master)
            if group > 0:
                os.killpg(group, number)
        except OSError:
            pass  # it just ended


def _stop(target: int) -> None:
    """Stop this process, or its whole group for 0, until a shell goes on with it.

    SIGTSTP and not SIGSTOP: the kernel ignores it if no shell is there that could do so.
    """
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        os.kill(target, signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, before)
