"""Decide what a command reads as its standard input."""

import fcntl
import os
import select
import stat
import struct
import termios

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StdinPlan


class StdinChoice(NamedTuple):
    """The decision about standard input.

    ``ignored_pipe`` is True when the caller's input is an open pipe on which nothing came. The
    command does not get it, and the front end should say so.
    """

    plan: StdinPlan
    ignored_pipe: bool


def stdin_plan(fd: int, *, explicit: bool | None = None, wait_s: float = 0.1) -> StdinChoice:
    """Decide whether the caller's input ``fd`` is meant for the command.

    ``explicit`` is the caller's own decision, if there is one. Without it, a terminal and a file
    are meant for the command, and so is a pipe or socket on which data arrives within ``wait_s``
    seconds. An open pipe without data is not: many callers leave one open for ever, and agents
    read it until it closes. This reads no byte.
    """
    try:
        mode = os.fstat(fd).st_mode
    except OSError:  # the descriptor is closed
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
    # A closed, empty pipe is the same as /dev/null. A listening socket polls readable without data.
    plan = StdinPlan.INHERIT if waiting else StdinPlan.NULL
    return StdinChoice(plan=plan, ignored_pipe=False)


def _is_dev_null(fd: int) -> bool:
    seen, null = os.fstat(fd), os.stat(os.devnull)
    return stat.S_ISCHR(seen.st_mode) and seen.st_rdev == null.st_rdev
