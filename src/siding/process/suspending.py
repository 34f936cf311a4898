"""Suspend a run with Ctrl-Z and go on with it (`fg`, `bg`), as a shell does with any job.

In a terminal of its own the command is stopped by that terminal, or stops itself, as editors do.
Its keeper tells, and we give the person's terminal back and stop with it. Without a terminal of
its own the command is in another session, where Ctrl-Z does not reach it: we stop everything that
it started, then ourselves.
"""

import os
import signal
from collections.abc import Callable

from siding.process.terminal import RawMode, is_ours
from siding.process.tree import ProcessTree


class Suspending:
    """Suspends one run.

    `raw` is the person's terminal if the command gets its keys. `master` is our end of the
    command's terminal, None without one. `may_stop` is False where nobody could go on with us (in
    a thread). `is_paused` tells whether another command has stopped the processes of the run for
    a moment, which concerns no terminal.
    """

    def __init__(
        self,
        tree: ProcessTree,
        *,
        raw: RawMode | None,
        master: int | None,
        resized: Callable[[], None],
        may_stop: bool,
        is_paused: Callable[[], bool],
    ) -> None:
        self._tree = tree
        self._raw = raw
        self._master = master
        self.resized = resized  # gives the command's terminal the size of the person's
        self._may_stop = may_stop
        self._is_paused = is_paused
        self._was_asked = False
        self.in_background = False  # another job has the person's terminal

    def command_stopped(self, number: int) -> None:
        """Suspend us, too, if the command was stopped in its terminal."""
        if self._master is None or (number == signal.SIGSTOP and self._is_paused()):
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
