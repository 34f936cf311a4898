"""Suspend a run with Ctrl-Z and go on with it (`fg`, `bg`), as a shell does with any job.

Loaded at the first Ctrl-Z, stop or key: most runs see none.

In a terminal of its own the command is stopped by that terminal, or stops itself, as editors do.
Its keeper tells, and we give the person's terminal back and stop with it. Without a terminal of its
own the command is in another session, where Ctrl-Z does not reach it: we stop everything that it
started, then ourselves.

In a sandbox (Linux) neither is so. The command leads a session of its own there: nobody in that
session could go on with it, so its group is orphaned and the kernel drops SIGTSTP (POSIX, "Orphaned
Process Group"). A program that stops itself with SIGSTOP does stop, and nobody outside is told: it
would stay so for ever. So when the key was typed we look at the foreground a little later, and say
what has to be done.
"""

import os
import signal
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.ground.process.ports import Pause
    from siding.ground.process.terminal import RawMode
    from siding.ground.process.tree import ProcessTree

_LEFT_BEHIND_S = 10.0  # a pause takes less than half a second
_LOOKS_S = (0.1, 0.3, 0.8)  # after the key, and after each other: a program tidies up first
_LOCAL_FLAGS, _KEYS = 3, 6  # of what tcgetattr returns
# What a Ctrl-Z has come to: the program has stopped itself, or the kernel has dropped the signal
# that should have stopped it.
Meant = Literal["stopped", "dropped"]


class Suspending:
    """Suspends one run.

    `raw` is the person's terminal if the command gets its keys. `master` is our end of the
    command's terminal, None without one. `may_stop` is False where nobody could go on with us (in
    a thread). `pause` knows, where there can be one, whether another command has stopped the
    processes of the run for a moment, which concerns no terminal.
    """

    def __init__(
        self,
        tree: "ProcessTree",
        *,
        raw: "RawMode | None",
        master: int | None,
        resized: Callable[[], None],
        may_stop: bool,
        pause: "Pause | None",
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
            self._looks_at(self._master).typed(keys)

    def command_stopped(self, number: int) -> None:
        """Suspend us, too, if the command was stopped in its terminal."""
        if number == signal.SIGSTOP and self._is_paused():
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
        if self._pause is not None and self._look_at is not None and now >= self._look_at:
            self._pause.end_if_left_behind()
            self._look_at = now + _LEFT_BEHIND_S if self._is_paused() else None
        meant = None if self._ctrl_z is None else self._ctrl_z.look(now)
        if meant == "stopped" and not self._is_paused():
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
            self._looks_at(self._master).signalled()
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

    def _is_paused(self) -> bool:
        return self._pause is not None and self._pause.is_there()

    def _looks_at(self, master: int) -> "CtrlZ":
        if self._ctrl_z is None:
            self._ctrl_z = CtrlZ(master)
        return self._ctrl_z

    def _stop_all(self, target: int) -> None:
        """Stop all that the run started, and ourselves, until a shell goes on with us."""
        from siding.ground.process.pauser import Suspended

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


class _Foreground(NamedTuple):
    """The leader of the terminal's foreground group. Only one that leads the session is told."""

    group: int
    stopped: bool
    ignores: bool  # SIGTSTP


class CtrlZ:
    """Looks at the terminal whose other end is `master`. `due` is when to look again."""

    def __init__(self, master: int) -> None:
        self.due: float | None = None
        self._master = master
        self._group = 0
        self._signals = False  # the terminal makes a signal of the key
        self._left: list[float] = []

    def typed(self, data: bytes) -> None:
        """Take note of keys that are on their way into the terminal."""
        try:
            settings = termios.tcgetattr(self._master)
        except termios.error:  # it was closed
            return
        if settings[_KEYS][termios.VSUSP] in data:
            self._begin(signals=bool(settings[_LOCAL_FLAGS] & termios.ISIG))

    def signalled(self) -> None:
        """Take note that the foreground is sent SIGTSTP."""
        self._begin(signals=True)

    def look(self, now: float) -> Meant | None:
        """Look, if it is time to; None while nothing has to be done."""
        if self.due is None or now < self.due:
            return None
        self._wait()
        found = self._foreground()
        if found is None or found.group != self._group:
            self.due = None  # it has ended, or a shell in there took the terminal
        elif found.stopped:
            self.due = None
            return "stopped"
        elif self._signals:
            self.due = None
            return "dropped"
        return None

    def _begin(self, *, signals: bool) -> None:
        found = self._foreground() if sys.platform == "linux" else None
        if found is not None and not found.ignores:
            self._group, self._signals = found.group, signals
            self._left = list(_LOOKS_S)
            self._wait()

    def _wait(self) -> None:
        self.due = time.monotonic() + self._left.pop(0) if self._left else None

    def _foreground(self) -> _Foreground | None:
        try:
            group = os.tcgetpgrp(self._master)
            if group <= 0 or os.getsid(group) != group:
                return None
            text = Path(f"/proc/{group}/status").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        lines = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
        return _Foreground(
            group,
            stopped=lines["State"].startswith("T"),
            ignores=bool(int(lines["SigIgn"], 16) & 1 << (signal.SIGTSTP - 1)),
        )
