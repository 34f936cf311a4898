"""Suspend a run with Ctrl-Z and go on with it (`fg`, `bg`), as a shell does with any job.

In a terminal of its own the command is stopped by that terminal, or stops itself, as editors do.
Its keeper tells, and we give the person's terminal back and stop with it. Without a terminal of
its own the command is in another session, where Ctrl-Z does not reach it: we stop everything that
it started, then ourselves.
"""

import os
import signal
import time
from collections.abc import Callable
from typing import Protocol

from siding.process.terminal import RawMode, is_ours
from siding.process.tree import ProcessTree

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
        tree: ProcessTree,
        *,
        raw: RawMode | None,
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
        self.look_at: float | None = None  # when to look whether the pause was left behind
        self._was_asked = False
        self.in_background = False  # another job has the person's terminal

    def command_stopped(self, number: int) -> None:
        """Suspend us, too, if the command was stopped in its terminal."""
        if number == signal.SIGSTOP and self._pause.is_there():
            self.look_at = time.monotonic() + _LEFT_BEHIND_S
            return
        if self._master is None:
            return  # whoever stopped it goes on with it
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

    def look_after_pause(self, now: float) -> None:
        """Let the run go on if whoever paused it was killed."""
        if self.look_at is not None and now >= self.look_at:
            self._pause.end_if_left_behind()
            self.look_at = now + _LEFT_BEHIND_S if self._pause.is_there() else None

    def asked(self) -> None:
        """Suspend the run: we got SIGTSTP."""
        if not self._may_stop:
            return
        if self._master is not None:
            self._was_asked = True
            self._signal_foreground(signal.SIGTSTP)
            return
        # Imported here: every run loads this module, and few are suspended.
        from siding.process.pausing.suspended import Suspended

        with Suspended(self._tree):
            _stop(os.getpid())

    def continued(self) -> None:
        """Take the person's terminal again, if it is ours: we were stopped, or in the
        background."""
        if self._raw is None:
            return
        self.in_background = not is_ours(self._raw.fd)
        if not self.in_background:
            self._raw.on()
            self.resized()

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
