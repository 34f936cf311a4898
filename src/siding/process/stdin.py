"""What a command should read."""

import fcntl
import os
import select
import stat
import struct
import termios
from typing import NamedTuple

from siding.process.command import StdinPlan


class StdinChoice(NamedTuple):
    """``ignored_pipe``: there is an open pipe on which nothing came; the command will not see it,
    and the front end should say so."""

    plan: StdinPlan
    ignored_pipe: bool


def stdin_plan(fd: int, *, explicit: bool | None = None, wait_s: float = 0.1) -> StdinChoice:
    """Decide whether the caller's input ``fd`` is meant for the command.

    ``explicit`` is the caller's own word, if there is one. Otherwise: a terminal, a file and a
    pipe or socket on which data is there within ``wait_s`` are; a pipe that is open and silent is
    not. Many callers leave such a pipe open for ever, and real agents read until it closes.
    Reads nothing.
    """
    try:
        mode = os.fstat(fd).st_mode
    except OSError:  # there is no such descriptor
        return StdinChoice(plan=StdinPlan.NULL, ignored_pipe=False)
    if explicit is False or _is_dev_null(fd):
        return StdinChoice(plan=StdinPlan.NULL, ignored_pipe=False)
    if os.isatty(fd):
        return StdinChoice(plan=StdinPlan.TERMINAL, ignored_pipe=False)
    if explicit or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return StdinChoice(plan=StdinPlan.INHERIT, ignored_pipe=False)
    return _look_at_pipe(fd, wait_s)


def _look_at_pipe(fd: int, wait_s: float) -> StdinChoice:
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    if not poller.poll(wait_s * 1000):
        return StdinChoice(plan=StdinPlan.NULL, ignored_pipe=True)
    waiting = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, bytes(4)))[0]
    # Closed and empty is the same as /dev/null; a socket that is to be accepted is not data.
    plan = StdinPlan.INHERIT if waiting else StdinPlan.NULL
    return StdinChoice(plan=plan, ignored_pipe=False)


def _is_dev_null(fd: int) -> bool:
    seen, null = os.fstat(fd), os.stat(os.devnull)
    return stat.S_ISCHR(seen.st_mode) and seen.st_rdev == null.st_rdev
