"""Ctrl-Z in a terminal whose foreground the kernel does not stop. Linux.

In a sandbox the command leads a session of its own: nobody in that session could go on with it, so
its group is orphaned and the kernel drops SIGTSTP (POSIX, "Orphaned Process Group"). A program
that stops itself with SIGSTOP does stop, and nobody outside is told: it would stay so for ever. So
when the key was typed we look at the foreground a little later, and say what has to be done.
"""

import os
import signal
import sys
import termios
import time
from pathlib import Path
from typing import Literal

from siding.ground.namedtuples import NamedTuple

_LOOKS_S = (0.1, 0.3, 0.8)  # after the key, and after each other: a program tidies up first
_LOCAL_FLAGS, _KEYS = 3, 6  # of what tcgetattr returns


# What a Ctrl-Z has come to: the program has stopped itself, or the kernel has dropped the signal
# that should have stopped it.
Meant = Literal["stopped", "dropped"]


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
